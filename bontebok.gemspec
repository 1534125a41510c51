# frozen_string_literal: true

require_relative "lib/bontebok/version"

Gem::Specification.new do |spec|
  spec.name = "bontebok"
  spec.version = Bontebok::VERSION
  spec.authors = ["Bontebok contributors"]
  spec.summary = "A fast, preforking Rack application server with a core in C"
  spec.description = "Bontebok serves a Rack application over HTTP/1.1 from preforked workers, behind a " \
                     "reverse proxy or on its own. Its core is C11 and knows no Ruby; a slow client costs no worker."
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"

  # Globs, not git's index: the gem is also built from a source archive. test/lint checks which files the globs match.
  spec.files = Dir.chdir(__dir__) do
    Dir["lib/**/*.rb", "exe/*", "ext/**/*.{rb,c,h}", "core/include/*.h", "core/src/**/*.{c,h}", "load/src/**/*.{c,h}",
        "docs/**/*.md", "README.md", "CHANGELOG.md", "LICENSE"]
  end
  spec.bindir = "exe"
  spec.executables = ["bontebok"]
  spec.extensions = ["ext/bontebok/extconf.rb"]

  spec.add_dependency "rack", ">= 2.2"

  spec.metadata["rubygems_mfa_required"] = "true"
end
