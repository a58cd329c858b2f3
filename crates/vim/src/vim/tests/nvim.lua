-- Runs cases of keys on texts, and writes the states that result. Reads BURIN_CASES, writes BURIN_STATES.
local function read(path)
  local file = assert(io.open(path, "r"))
  local text = file:read("*a")
  file:close()
  return text
end

local registers = { '"', "0", "1", "2", "3", "-", "a", "b", "/", ":", "." }
local marks = { "[", "]", "<", ">", ".", "^", "a", "b", "'" }

vim.o.shortmess = "aoOstTWAIcCqFS"
vim.o.report = 99999
vim.o.clipboard = ""
vim.o.belloff = "all"
vim.o.swapfile = false
vim.o.more = false
pcall(function()
  vim.o.messagesopt = "wait:0,history:500"
end)

local function reset(case)
  if vim.fn.reg_recording() ~= "" then
    vim.api.nvim_feedkeys("q", "tx", false)
  end
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<C-\\><C-N>", true, false, true), "tx", false)
  vim.cmd("enew!")
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("ix<Esc>", true, true, true), "tx", false)
  vim.cmd("enew!")
  vim.fn.setcharsearch({ char = "z", forward = 1, ["until"] = 0 })
  vim.fn.setreg("/", "zz")
  vim.bo.undolevels = -1
  vim.api.nvim_buf_set_lines(0, 0, -1, true, case.lines)
  vim.bo.undolevels = 1000
  vim.bo.modified = false
  for _, option in ipairs({ "tabstop", "shiftwidth", "expandtab", "textwidth", "shiftround", "autoindent",
    "ignorecase", "smartcase", "tildeop", "startofline", "gdefault", "wrapscan", "nrformats" }) do
    vim.cmd("set " .. option .. "&")
  end
  if case.set ~= "" then
    vim.cmd("set " .. case.set)
  end
  vim.bo.commentstring = "// %s"
  for _, name in ipairs({ "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "-", "a", "b", "c", "q" }) do
    vim.fn.setreg(name, {})
  end
  vim.cmd("silent! delmarks!")
  vim.cmd("silent! delmarks A-Z")
  vim.cmd("clearjumps")
  vim.api.nvim_win_set_cursor(0, { case.row + 1, case.col })
end

local function state()
  local result = { registers = {}, marks = {} }
  result.lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
  local cursor = vim.api.nvim_win_get_cursor(0)
  result.row = cursor[1] - 1
  result.col = cursor[2]
  result.mode = vim.api.nvim_get_mode().mode
  for _, name in ipairs(registers) do
    local info = vim.fn.getreginfo(name)
    local text = table.concat(info.regcontents or {}, "\n")
    -- Special keys are no UTF-8.
    if info.regcontents and pcall(vim.fn.json_encode, text) then
      result.registers[name] = { text, info.regtype }
    end
  end
  for _, name in ipairs(marks) do
    local mark = vim.api.nvim_buf_get_mark(0, name)
    if name == "'" then
      local pos = vim.fn.getpos("''")
      mark = { pos[2], math.max(pos[3] - 1, 0) }
    end
    if mark[1] > 0 then
      result.marks[name] = { mark[1] - 1, mark[2] }
    end
  end
  return result
end

local out = {}
local progress = assert(io.open(os.getenv("BURIN_STATES") .. ".log", "w"))
for _, case in ipairs(vim.fn.json_decode(read(os.getenv("BURIN_CASES")))) do
  progress:write(case.keys .. "\n")
  progress:flush()
  local ok, message = pcall(function()
    reset(case)
    local keys = vim.api.nvim_replace_termcodes(case.keys, true, true, true)
    vim.api.nvim_feedkeys(keys, "tx", false)
    out[#out + 1] = vim.fn.json_encode(state())
  end)
  if not ok then
    out[#out + 1] = vim.fn.json_encode({ error = tostring(message) })
    vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<C-\\><C-N>", true, false, true), "tx", false)
  end
end
local file = assert(io.open(os.getenv("BURIN_STATES"), "w"))
file:write("[" .. table.concat(out, ",") .. "]")
file:close()
os.exit(0)
