# frozen_string_literal: true

# What bin/test is: chooses groups, runs them side by side, prints what each has said, and sums up.

require_relative "runner/run"

Dir.chdir(File.expand_path("../..", __dir__))
$stdout.sync = true
ENV["BUNDLE_SILENCE_ROOT_WARNING"] = "1"
exit Runner::Run.new(ARGV).call
