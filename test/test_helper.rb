# frozen_string_literal: true

# Every test file requires this file first. It offers Support::TestCase. A test that needs neither processes nor sockets
# may inherit from Minitest::Test as well. docs/TESTING.md shows how to write each kind of test.

# The files of this repository are UTF-8, also under LANG=C. An assignment is a warning under -w.
Encoding.default_external = Encoding::UTF_8 unless Encoding.default_external == Encoding::UTF_8

ROOT = File.expand_path("..", __dir__)
$LOAD_PATH.unshift(File.join(ROOT, "lib"))

require_relative "support/ruby/short_end"
Support::ShortEnd.begin
require "minitest/autorun"
require_relative "support"

# Under nohup, HUP is ignored. A server that inherits this would also ignore HUP.
Signal.trap("HUP", "DEFAULT")

# If TMPDIR cannot be written to, tests and their servers use the same other directory, and the servers do not warn.
ENV["TMPDIR"] = Dir.tmpdir if ENV.key?("TMPDIR")
# Control sockets of servers without a directory tmp are among the files of the run.
ENV["XDG_RUNTIME_DIR"] = Dir.tmpdir
ENV.delete("RUNTIME_DIRECTORY")

# A test without an assertion fails, because it cannot fail otherwise. `flunk` and `skip` raise, so they count.
module Asserting
  def run
    result = super
    return result if result.assertions.positive? || result.failures.any?

    result.failures << Minitest::Assertion.new("the test has no assertion")
    result.failures.last.set_backtrace([result.source_location.join(":")])
    result
  end
end

Minitest::Test.prepend(Asserting, Support::HangWatch)
Support::Costs.begin
Minitest.after_run { Support::ChildProcess.kill_all }
