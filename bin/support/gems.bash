# Installs the missing gems of a Gemfile. bin/setup sources this file.

export BUNDLE_SILENCE_ROOT_WARNING=1

# gems GEMFILE: asks no registry if `bundle check` finds all gems.
gems() {
  local -x BUNDLE_GEMFILE=$PWD/$1
  bundle check >/dev/null 2>&1 && return
  echo "Installing the gems of $1"
  choose_place
  bundle install --quiet
}

# If this user cannot write to Ruby's gem directory, the gems go to vendor/bundle. A configured path is not changed.
choose_place() {
  [[ $(id -u) -eq 0 || -w $(ruby -e 'print Gem.dir') || -n $(bundle config get --parseable path) ]] && return
  bundle config set --local path "$PWD/vendor/bundle" >/dev/null
}
