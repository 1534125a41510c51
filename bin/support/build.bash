# Builds the native parts into lib/bontebok/, where `bundle exec bontebok` and the tests find them. For bin/setup.
#
# Objects lie in tmp/build/, so that no build ever changes the folders of the sources. From there paths are relative:
# make knows none with a space, and the checkout's may have one.

# build EXTENSION OUTPUT SOURCE_FOLDER...: by `make install`, as RubyGems does it.
build() {
  local extension=$1 output=$2 folder=tmp/build/$1 root
  shift 2
  local sources=("ext/$extension" "$@")
  is_current "$folder" "$output" "${sources[@]}" && return

  echo "Building $output"
  is_configured "$folder" "${sources[@]}" || configure "$extension" "$folder"
  # mkmf's Makefile does not know which object includes which header.
  [[ -e $output && -n $(find "${sources[@]}" -name '*.h' -newer "$output" -print -quit) ]] && make -s -C "$folder" clean
  root=$(realpath --relative-to="$folder" .)
  make -s -C "$folder" -j"$(nproc)" install sitearchdir="$root/lib" sitelibdir="$root/lib" >"$folder/build.log" 2>&1 ||
    { cat "$folder/build.log" >&2; return 1; }
  touch "$output"
}

# Nothing is newer than what was built, and it was built for this Ruby.
is_current() {
  local folder=$1 output=$2
  shift 2
  [[ -e $output && $(cat "$folder/ruby" 2>/dev/null) == "$ruby_identity" ]] &&
    [[ -z $(find "$@" -newer "$output" -print -quit) ]]
}

# A folder is newer than the Makefile when a file was added or removed.
is_configured() {
  local folder=$1
  shift
  [[ -e $folder/Makefile && $(cat "$folder/ruby" 2>/dev/null) == "$ruby_identity" ]] &&
    [[ -z $(find "$@" \( -type d -o -name extconf.rb \) -newer "$folder/Makefile" -print -quit) ]]
}

configure() {
  local extension=$1 folder=$2 root
  rm -rf "$folder"
  mkdir -p "$folder"
  root=$(realpath --relative-to="$folder" .)
  (cd "$folder" && ruby "$root/ext/$extension/extconf.rb" >configure.log 2>&1) ||
    { cat "$folder/configure.log" "$folder/mkmf.log" >&2 2>/dev/null; return 1; }
  echo "$ruby_identity" >"$folder/ruby"
}
