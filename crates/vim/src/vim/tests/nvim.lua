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
vim.o.showmode = false
pcall(function()
  vim.o.messagesopt = "wait:0,history:500"
end)

local function reset(case)
  if vim.fn.reg_recording() ~= "" then
    vim.api.nvim_feedkeys("q", "tx", false)
  end
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<C-\\><C-N>", true, false, true), "tx", false)
  vim.cmd("enew!")
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("ix<Esc>vy:s/zz/yy/e<CR>", true, true, true), "tx", false)
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
  vim.fn.setreg("a", { "la", "lb" }, "V")
  vim.fn.setreg("b", "bee", "v")
  vim.fn.setreg("0", "zero", "vu")
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

local cases = vim.fn.json_decode(read(os.getenv("BURIN_CASES")))
local out = {}

-- The commands of a case, after the text is set.
function _G.begin_case(ix)
  local case = cases[ix]
  reset(case)
  return vim.tbl_map(function(keys)
    return vim.api.nvim_replace_termcodes(keys, true, true, true)
  end, case.commands)
end

function _G.end_case()
  local ok = pcall(function()
    out[#out + 1] = vim.fn.json_encode(state())
  end)
  if not ok then
    out[#out + 1] = vim.fn.json_encode({ error = "the state is no UTF-8" })
  end
end

function _G.finish()
  local file = assert(io.open(os.getenv("BURIN_STATES"), "w"))
  file:write("[" .. table.concat(out, ",") .. "]")
  file:close()
  os.exit(0)
end

-- Keys are fed by a function of Vim's script: from Lua, a failed search would be an exception. `assert_fails` keeps the
-- program from showing each failure for a second.
vim.api.nvim_exec2(
  [[
    function RunCases(count)
      for ix in range(1, a:count)
        for keys in luaeval("begin_case(_A)", ix)
          let g:case_keys = keys
          call assert_fails('silent call feedkeys(g:case_keys, "tx")')
        endfor
        let v:errors = []
        call luaeval("end_case()")
      endfor
      call luaeval("finish()")
    endfunction
  ]],
  {}
)
_G.case_count = #cases
