# The groups of bin/test, in the order in which they run: what is quick to tell about comes first. Sourced by bin/test.

# name | what it is for
groups="
core        | the core in C: unit tests under ASan and UBSan, plain and vector scanners
threads     | those of them that have threads, under ThreadSanitizer
arm64       | the bytes layer built for arm64, run emulated
warnings    | gcc, clang and musl-gcc have nothing to say
fuzz        | parser, body decoder, reply encoder, X-Request-Start, access log: a short fuzzing run each
lint        | the rules of the tree: layers, sizes, paths in docs, packaging, style
unit        | Ruby classes, and the tests' harness
ext         | the binding, under the newest Rack
ext-rack2   | the binding, under Rack 2.2
memory      | the binding under valgrind
load        | the load tool
integration | the executable, over the wire
conform     | Rack and HTTP, as tables of cases
interop     | proxies in front, frameworks behind, start_server and systemd around
"

group_names() { sed -n 's/^\([a-z0-9-]*\) *|.*/\1/p' <<<"$groups"; }

list_groups() { sed -n 's/^\([a-z0-9-]*\) *| \(.*\)/\1\t\2/p' <<<"$groups" | expand -t 14; }

is_group() { group_names | grep -qxF -- "$1"; }

description_of() { sed -n "s/^$1 *| //p" <<<"$groups"; }

run_group() {
  case $1 in
  core) make -s -C core test ;;
  threads) make -s -C core tsan ;;
  arm64) make -s -C core test-arm64 ;;
  warnings) both "make -s -C core warnings" "make -s -C load warnings" ;;
  fuzz) make -s -C core/fuzz run RUNS=200000 FLAGS=-verbosity=0 ;;
  lint) both "rake_test lint" "bundle exec rubocop" ;;
  load) both "make -s -C load test" "rake_test load" ;;
  ext-rack2) BUNDLE_GEMFILE=$PWD/gemfiles/rack2.gemfile rake_test ext ;;
  memory) BONTEBOK_TEST_PATIENCE=20 bundle exec rake --silent test:memory ;;
  *) rake_test "$1" ;;
  esac
}

# The second one runs whatever the first one says.
both() {
  local status=0
  $1 || status=1
  $2 || status=1
  return $status
}

rake_test() { bundle exec rake --silent "test:$1"; }
