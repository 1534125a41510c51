# frozen_string_literal: true

# The program of bin/test: it chooses groups of tests, runs them side by side, prints their output, and prints a
# summary.

require_relative "runner/guarded"
require_relative "runner/run"

Dir.chdir(File.expand_path("../..", __dir__))
$stdout.sync = true
ENV["BUNDLE_SILENCE_ROOT_WARNING"] = "1"
exit Runner::Run.new(ARGV).call
