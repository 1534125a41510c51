# frozen_string_literal: true

module Bench
  module_function

  # Machine, Ruby and date of a measurement, in one line.
  def machine
    model = File.read("/proc/cpuinfo")[/model name\s*: (.*)/, 1]
    "#{RUBY_DESCRIPTION}, #{File.read('/proc/version').split[2]}, #{model}, #{Time.now.utc.strftime('%F')}"
  end
end
