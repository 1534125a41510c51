# frozen_string_literal: true

# Every test file requires this one first. It offers Support::TestCase; a test that needs neither processes nor
# sockets may inherit from Minitest::Test just as well. docs/TESTING.md shows how to write one of each kind.

# The files of this repository are UTF-8 under LANG=C as well.
Encoding.default_external = Encoding::UTF_8

ROOT = File.expand_path("..", __dir__)
$LOAD_PATH.unshift(File.join(ROOT, "lib"))

require "minitest/autorun"
require_relative "support"

# Under nohup it is ignored, and a server keeps it so.
Signal.trap("HUP", "DEFAULT")

Minitest.after_run { Support::ChildProcess.kill_all }
