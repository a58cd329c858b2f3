# Passes the output of `cargo test` through, then names the skipped tests and counts all of them.
# A skipped test reports itself as "skipped: NAME: REASON" and passes as far as the harness knows.
# A line "suite: NAME" begins a run of tests that an earlier run may have had; "suite:" ends it.
{ print; fflush() }
/^suite:/ { suite = NF > 1 ? $2 "::" : "" }
/^test result:/ { passed += $4; failed += $6; skipped += $8 }
match($0, /skipped: [^ ]+: /) {
  name = suite substr($0, RSTART + 9, RLENGTH - 11)
  if (!(name in reasons)) {
    reasons[name] = substr($0, RSTART + RLENGTH)
    names[++count] = name
  }
}
match($0, /skipped in part: [^ ]+: /) { parts[++in_part] = substr($0, RSTART) }
END {
  for (ix = 1; ix <= in_part; ix++) print parts[ix]
  for (ix = 1; ix <= count; ix++) print "skipped: " names[ix] ": " reasons[names[ix]]
  printf "total: %d passed, %d failed, %d skipped\n", passed - count, failed, skipped + count
}
