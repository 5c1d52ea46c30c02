# Shell functions shared by ./assay, ./test and setup/*: install what is missing, configure, build.
# Sourced by bash with `root` set to the project's folder and `me` to the caller's name for messages.
# Everything said goes to stderr, since stdout belongs to the program that runs afterwards.

say() { printf '%s: %s\n' "$me" "$*" >&2; }

# Builds and set-up by two callers at once take turns. The descriptor is closed before the program starts.
take_lock() {
  mkdir -p "$root/build" 2>/dev/null && [ -w "$root/build" ] || {
    say "cannot write to $root/build; give this account its own copy of the project"
    exit 4
  }
  exec 9>"$root/build/.lock"
  flock 9
}
drop_lock() { exec 9>&-; }

# present KIND WHAT: is this thing of a packages file there?
present() {
  case $1 in
  command) command -v "$2" >/dev/null 2>&1 ;;
  header) [ -e "/usr/include/$2" ] || [ -e "/usr/local/include/$2" ] ;;
  file) compgen -G "$2" >/dev/null ;;
  python) python3 -c "import $2" >/dev/null 2>&1 ;;
  esac
}

# missing FILE...: the packages of these lists whose things are not there.
missing() {
  local package kind what
  cat "$@" | while read -r package kind what; do
    case $package in '' | '#'*) continue ;; esac
    present "$kind" "$what" || printf '%s\n' "$package"
  done
}

# Install packages as root, or through sudo, or say what to type.
install_packages() {
  local log=$root/build/setup.log as_root=()
  local commands="    apt-get update
    apt-get install -y --no-install-recommends $*"
  if ! command -v apt-get >/dev/null 2>&1; then
    say "this system has no apt-get; install what these Debian packages hold, then run this again:"
    printf '    %s\n' "$*" >&2
    exit 4
  fi
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
      as_root=(sudo)
    else
      say "packages are missing and this account may not install them. As root, type"
      printf '%s\n' "$commands" >&2
      say "and then run this again"
      exit 4
    fi
  fi
  say "installing with ${as_root[*]:+${as_root[*]} }apt-get: $*"
  if ! { "${as_root[@]}" apt-get -q update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -q install -y --no-install-recommends "$@"; } </dev/null >"$log" 2>&1 9>&-; then
    tail -n 15 "$log" >&2
    say "apt-get failed (all of its output: $log). What was tried, to be typed as root:"
    printf '%s\n' "$commands" >&2
    exit 4
  fi
}

# ensure_packages LIST...: does nothing when a stamp says that these very lists were satisfied.
ensure_packages() {
  local stamp=$root/build/.setup-$# lists need
  lists=$(cat "$@" | cksum)
  [ "$lists" = "$(cat "$stamp" 2>/dev/null)" ] && return
  mapfile -t need < <(missing "$@")
  [ ${#need[@]} = 0 ] || install_packages "${need[@]}"
  mapfile -t need < <(missing "$@")
  if [ ${#need[@]} != 0 ]; then
    say "still missing after the installation: ${need[*]}"
    exit 4
  fi
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  if [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" != 3.25 ]; then
    say "CMake 3.25 or newer is needed; $(command -v cmake) is $version"
    exit 4
  fi
  echo "$lists" >"$stamp"
}

# The private Python environment with NVRTC and the CUDA headers.
ensure_nvrtc() {
  local list=$root/setup/requirements-nvrtc.txt venv=$root/.venv log=$root/build/setup.log
  [ "$(cksum <"$list")" = "$(cat "$venv/.nvrtc" 2>/dev/null)" ] && return
  say "installing with pip into .venv: $(grep -v '^#' "$list" | tr '\n' ' ')"
  if ! { python3 -m venv --clear "$venv" &&
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list"; } \
    </dev/null >"$log" 2>&1 9>&-; then
    tail -n 15 "$log" >&2
    say "pip failed (all of its output: $log); tried in $venv: pip install -r $list"
    exit 4
  fi
  cksum <"$list" >"$venv/.nvrtc"
}

# What the injection library of the native backend is built with, into the same environment.
ensure_native() {
  local list=$root/setup/requirements-native.txt venv=$root/.venv log=$root/build/setup.log
  [ "$(cksum <"$list")" = "$(cat "$venv/.native" 2>/dev/null)" ] && return
  say "installing with pip into .venv: $(grep -v '^#' "$list" | tr '\n' ' ')"
  if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list" \
    </dev/null >"$log" 2>&1 9>&-; then
    tail -n 15 "$log" >&2
    say "pip failed (all of its output: $log); tried in $venv: pip install -r $list"
    exit 4
  fi
  cksum <"$list" >"$venv/.native"
}

# As many compilers as cores, and no more than one for each 1.5 GiB of free memory.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo)
  [ "${memory:-0}" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# build PRESET TARGET [CMAKE-OPTION...]: configures when needed; returns non-zero when it fails.
build() {
  local preset=$1 target=$2 dir=$root/build/$1 option configure=0 log
  shift 2
  log=$dir.log
  [ -f "$dir/build.ninja" ] || configure=1
  for option in "$@"; do
    grep -q "^${option%%=*}:[A-Z]*=${option#*=}\$" "$dir/CMakeCache.txt" 2>/dev/null || configure=1
  done
  if [ $configure = 1 ]; then
    say "configuring $preset"
    if ! (cd "$root" && cmake --preset "$preset" "${@/#/-D}") >"$log" 2>&1 9>&-; then
      cat "$log" >&2
      rm -f "$root"/build/.setup-*
      say "CMake could not configure the $preset build; the next run looks for missing packages again"
      return 1
    fi
  fi
  if [ $configure = 1 ] || [ ! -e "$dir/.built-$target" ]; then
    say "building $preset (some minutes the first time)"
  fi
  if ! run_ninja "$dir" "$target" >&2 9>&-; then
    say "the $preset build failed"
    return 1
  fi
  touch "$dir/.built-$target"
}

# Progress on a terminal; otherwise only what compilers say.
run_ninja() {
  if [ -t 2 ] && [ ! -e "$1/.built-$2" ]; then
    ninja -C "$1" -j "$(jobs)" "$2"
  else
    ninja -C "$1" --quiet -j "$(jobs)" "$2" | grep -v '^ninja: no work to do'
    return "${PIPESTATUS[0]}"
  fi
}
