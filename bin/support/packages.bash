# Finds missing programs and headers, and installs their Debian packages. bin/setup sources this file.
#
# It looks for the program or the header, not for the package, because Ruby or the compiler may come from another
# source.

missing=()

# need PACKAGE COMMAND...: PACKAGE is missing unless COMMAND succeeds.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}

has() { command -v "$1"; }

# Debian puts some programs into directories that only root's PATH has.
has_server() { PATH=$PATH:/usr/sbin:/sbin command -v "$1"; }

has_header() { [[ -e /usr/include/$1 || -e /usr/include/$(uname -m)-linux-gnu/$1 || -e /usr/local/include/$1 ]]; }

has_ruby_headers() {
  ruby --disable=gems -rrbconfig -e 'exit File.exist?(File.join(RbConfig::CONFIG["rubyhdrdir"], "ruby.h"))'
}

has_perl_headers() { perl -MConfig -e 'exit !-e "$Config{archlibexp}/CORE/perl.h"'; }

# Looks for the module's file, because to load Dancer2 takes half a second.
has_perl_module() { perl -e '(my $file = "$ARGV[0].pm") =~ s{::}{/}g; exit !grep { -e "$_/$file" } @INC' "$1"; }

has_compiler() { has cc && has make; }

has_clang_runtimes() { [[ -e $(clang -print-file-name="libclang_rt.fuzzer-$(uname -m).a") ]]; }

# Packages for building the gem and for serving.
need_for_running() {
  need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
  need ruby has ruby
  need ruby-dev has_ruby_headers
  need bundler has bundle
  need build-essential has_compiler
  need pkg-config has pkg-config
  need libyaml-dev has_header yaml.h
}

# Fails if something is missing that cannot be installed by this user, or must not be installed.
check_for_building() {
  [[ -w . ]] || { echo "bin/setup: $(id -un) may not write to $PWD" >&2; exit 1; }
  need ruby has ruby
  need ruby-dev has_ruby_headers
  need build-essential has_compiler
  [[ ${#missing[@]} -eq 0 ]] || tell_the_command
}

# Additional packages for the tests.
need_for_testing() {
  need libcmocka-dev has_header cmocka.h
  need clang has clang
  need clang-runtimes has_clang_runtimes
  need clang-format has clang-format
  need musl-tools has musl-gcc
  need valgrind has valgrind
  need libc6-dbg test -d /usr/lib/debug/.build-id
  need nginx-light has_server nginx
  need haproxy has_server haproxy
  need h2o has_server h2o
  need libserver-starter-perl has start_server
  need systemd has systemd-socket-activate
  need logrotate has_server logrotate
  need curl has curl
  need chromium has chromium
  need libsqlite3-dev has_header sqlite3.h
  need libssl-dev has_header openssl/ssl.h
  need libfuse3-dev has_header fuse3/fuse.h
  need tzdata test -e /usr/share/zoneinfo/UTC
  need_for_perl
  need_for_arm64
}

# Perl's headers, Plack, and the modules and frameworks that the tests in perl/t and test/interop/psgi use.
need_for_perl() {
  need perl has_perl_headers
  need libplack-perl has_perl_module Plack
  need libtest-tcp-perl has_perl_module Test::TCP
  need libwww-perl has_perl_module LWP::UserAgent
  need libtest-leaktrace-perl has_perl_module Test::LeakTrace
  need libmojolicious-perl has_perl_module Mojolicious
  need libdancer2-perl has_perl_module Dancer2
  need libcatalyst-perl has_perl_module Catalyst
  need libcgi-pm-perl has_perl_module CGI
  need libcgi-emulate-psgi-perl has_perl_module CGI::Emulate::PSGI
  need libcgi-compile-perl has_perl_module CGI::Compile
  need libplack-middleware-reverseproxy-perl has_perl_module Plack::Middleware::ReverseProxy
  need libplack-middleware-session-perl has_perl_module Plack::Middleware::Session
  need libparallel-prefork-perl has_perl_module Parallel::Prefork
  need carton has carton
}

# The parser and the decoder are also built for arm64 and tested in an emulator.
need_for_arm64() {
  [[ $(uname -m) == aarch64 ]] && return
  need qemu-user has qemu-aarch64
  need gcc-aarch64-linux-gnu has aarch64-linux-gnu-gcc
  need libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdio.h
}

install_missing() {
  leave_out_unknown
  [[ ${#missing[@]} -eq 0 ]] && return
  if [[ $(id -u) -ne 0 ]]; then
    name_clang_runtimes
    tell_the_command
  fi
  has apt-get >/dev/null || tell_the_command
  echo "Installing ${missing[*]}"
  quietly apt-get update
  leave_out_unknown
  name_clang_runtimes
  quietly without_starting_services apt-get install -y --no-install-recommends "${missing[@]}"
}

# Not every release of Debian has every package: Debian 13 has no h2o. Without package lists, nothing is left out.
leave_out_unknown() {
  local i
  compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || return 0
  for i in "${!missing[@]}"; do
    [[ ${missing[i]} == clang-runtimes ]] || apt-cache show "${missing[i]}" >/dev/null 2>&1 || unset "missing[i]"
  done
}

# Runs a command, and shows its output only if the command fails.
quietly() {
  "$@" >tmp/apt.log 2>&1 || { cat tmp/apt.log >&2; exit 1; }
}

tell_the_command() {
  echo "Packages are missing. Run this as root, then start $0 again:" >&2
  echo "  apt-get update && apt-get install -y ${missing[*]}" >&2
  exit 1
}

# The package of the sanitizers and the fuzzer has clang's version in its name. Before clang is installed, only apt
# knows that version.
name_clang_runtimes() {
  local version i
  version=$(clang -dumpversion 2>/dev/null | cut -d. -f1) || true
  : "${version:=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)}"
  for i in "${!missing[@]}"; do
    [[ ${missing[i]} == clang-runtimes ]] && missing[i]=libclang-rt-${version:-14}-dev
  done
  return 0
}

# The tests start their own proxies. The proxies of the installed packages must not listen on port 80. policy-rc.d
# prevents their start now, and update-rc.d prevents their start at the next boot. An administrator's own policy-rc.d is
# not replaced.
without_starting_services() {
  local policy=/usr/sbin/policy-rc.d status=0 package
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
    trap "rm -f $policy" EXIT
  fi
  DEBIAN_FRONTEND=noninteractive "$@" </dev/null || status=$?
  for package in "${missing[@]}"; do
    case $package in
    nginx-light | haproxy | h2o) update-rc.d "${package%-light}" disable >/dev/null 2>&1 || true ;;
    esac
  done
  return $status
}
