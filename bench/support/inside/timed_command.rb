# frozen_string_literal: true

# timed_command.rb FD COMMAND...: runs a command of exe/bontebok, and writes the milliseconds that it takes to FD.

began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
out = IO.for_fd(Integer(ARGV.shift))
at_exit { out.write(((Process.clock_gettime(Process::CLOCK_MONOTONIC) - began) * 1000).to_s) }
load File.expand_path("../../../exe/bontebok", __dir__)
