# Builds the native parts into lib/bontebok/, where `bundle exec bontebok` and the tests find them. bin/setup sources
# this file.
#
# Object files are in tmp/build/, not in the source directories. Paths in tmp/build/ are relative, because make does not
# understand a space in the checkout's path.

# build EXTENSION OUTPUT SOURCE_DIRECTORY...: runs `make install`, as RubyGems does.
build() {
  local extension=$1 output=$2 directory=tmp/build/$1 root
  shift 2
  local sources=("ext/$extension" "$@")
  is_current "$directory" "$output" "${sources[@]}" && return

  echo "Building $output"
  is_configured "$directory" "${sources[@]}" || configure "$extension" "$directory"
  # mkmf's Makefile does not list which headers an object includes, so a changed header rebuilds all objects.
  [[ -e $output && -n $(find "${sources[@]}" -name '*.h' -newer "$output") ]] &&
    make -s -C "$directory" clean
  root=$(way_back "$directory")
  make -s -C "$directory" -j"$(processors)" install sitearchdir="$root/lib" sitelibdir="$root/lib" \
    >"$directory/build.log" 2>&1 ||
    { cat "$directory/build.log" >&2; return 1; }
  touch "$output"
}

# `bontebok bench` builds the load tool at its first use. Here it is built again if its sources have changed.
build_load_tool() {
  local output=lib/bontebok/bontebok-bench
  [[ -e $output && -z $(find load/src lib/bontebok/cli/bench_program.rb -newer "$output") ]] && return
  echo "Building $output"
  ruby --disable=gems -Ilib -e 'require "bontebok/cli/bench_program"; Bontebok::BenchProgram.new.build'
}

# Builds the Perl binding in perl/blib, where `prove -b` finds it. MakeMaker's Makefile does not know a source that is
# added later, so each build makes a new one. It never removes a module from blib. Another perl needs new objects.
build_perl() {
  local output=perl/blib/arch/auto/Bontebok/Bontebok.so directory=tmp/build/perl identity
  local sources=(perl/Makefile.PL perl/xs perl/lib core/src core/include)
  identity=$(perl -MConfig -e 'print "$^X $Config{version} $Config{archname} $Config{ccflags}"')
  if [[ $(cat "$directory/perl" 2>/dev/null) != "$identity" ]]; then
    rm -rf perl/objects perl/xs/*.o perl/*.a
  elif [[ -e $output && -z $(find "${sources[@]}" -newer "$output") ]]; then
    return
  fi

  echo "Building $output"
  mkdir -p "$directory"
  rm -rf perl/blib perl/pm_to_blib
  (cd perl && perl Makefile.PL && make -s -j"$(processors)") >"$directory/build.log" 2>&1 ||
    { cat "$directory/build.log" >&2; return 1; }
  echo "$identity" >"$directory/perl"
  touch "$output"
}

# The relative path from a directory to the checkout.
way_back() { ruby --disable=gems -rpathname -e 'print Pathname(".").relative_path_from(Pathname(ARGV[0]))' "$1"; }

processors() { ruby --disable=gems -retc -e 'print Etc.nprocessors'; }

# True if no source is newer than the output, and the output was built for this Ruby.
is_current() {
  local directory=$1 output=$2
  shift 2
  [[ -e $output && $(cat "$directory/ruby" 2>/dev/null) == "$ruby_identity" ]] &&
    [[ -z $(find "$@" -newer "$output") ]]
}

# A directory is newer than the Makefile if a file was added or removed.
is_configured() {
  local directory=$1
  shift
  [[ -e $directory/Makefile && $(cat "$directory/ruby" 2>/dev/null) == "$ruby_identity" ]] &&
    [[ -z $(find "$@" \( -type d -o -name extconf.rb \) -newer "$directory/Makefile") ]]
}

configure() {
  local extension=$1 directory=$2 root
  rm -rf "$directory"
  mkdir -p "$directory"
  root=$(way_back "$directory")
  (cd "$directory" && ruby "$root/ext/$extension/extconf.rb" >configure.log 2>&1) ||
    { cat "$directory/configure.log" "$directory/mkmf.log" >&2 2>/dev/null; return 1; }
  echo "$ruby_identity" >"$directory/ruby"
}
