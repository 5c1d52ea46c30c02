# Counts tests in the JUnit file that CTest writes: prints "passed failed skipped".
# A program may hold many tests: GoogleTest's summary, or a closing line `N passed, N failed, N skipped`,
# counts for what it says. Any other program is one test. A program that fails without naming a failed test
# (a crash, a time-out) is one failure more; one that could not be started has failed.
{ sub(/^[ \t]*<system-out>/, "") }
/^[ \t]*<testcase / {
  p = f = s = 0
  status = $0
  sub(/.* status="/, "", status)
  sub(/".*/, "", status)
}
/^[ \t]*<skipped message="SKIP_/ { status = "skipped" }
/^\[  PASSED  \] [0-9]+ test/ { p += $4 }
/^\[  FAILED  \] [0-9]+ test/ { f += $4 }
/^\[  SKIPPED \] [0-9]+ test/ { s += $4 }
/^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?(<\/system-out>)?$/ { p += $1; f += $3; s += $5 }
/^[ \t]*<\/testcase>/ {
  fine = status == "run" || status == "skipped" || status == "disabled"
  if (!fine && !f) f = 1
  if (fine && !(p + f + s)) { if (status == "run") p = 1; else s = 1 }
  passed += p; failed += f; skipped += s
}
END { print passed + 0, failed + 0, skipped + 0 }
