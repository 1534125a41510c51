# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/status/intervals"

# Signals that a command gets between two looks. The command is a process of its own, which prints a line at each look.
class IntervalsTest < Support::TestCase
  SCRIPT = <<~'RUBY'
    require "bontebok/cli/status/intervals"
    ARGV.each { |name| trap(name, "IGNORE") }
    Bontebok::Intervals.each(60, -> { $stdout.syswrite("again\n") }) { $stdout.syswrite("look\n") }
    puts "ended: #{%w[INT TERM HUP WINCH CONT].map { |name| trap(name, 'DEFAULT') }.join(' ')}"
  RUBY

  %w[INT TERM HUP].each do |name|
    define_method(:"test_#{name.downcase}_ends_the_looks") do
      command = start
      command.signal(name)
      command.wait_for_output(/^ended: DEFAULT /)
      assert_equal 0, command.wait.exitstatus
    end

    # nohup ignores HUP, and a shell ignores INT for a job in the background of a script.
    define_method(:"test_#{name.downcase}_that_is_ignored_stays_ignored") do
      command = start(name)
      command.signal(name)
      command.signal("CONT")
      command.wait_for_output(/again\nlook\n/)
      command.signal((%w[TERM HUP] - [name]).first)
      command.wait_for_output(/^ended: .*IGNORE/)
      assert_equal 0, command.wait.exitstatus
    end
  end

  private

  def start(*ignored)
    command = start_process(RbConfig.ruby, "--disable=gems", "-Ilib", "-e", SCRIPT, *ignored)
    command.wait_for_output(/look\n/)
    command
  end
end
