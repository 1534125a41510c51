# frozen_string_literal: true

require "test_helper"
require "bontebok/system/replaced/loading_fence"

# Tests the calls that LoadingFence refuses. Each test starts a new Ruby process, which replaces Ruby's methods.
class LoadingFenceTest < Support::TestCase
  CALLS = ["exec 'true'", "Kernel.exec 'true'", "Process.exec({}, 'true', chdir: '/')", "exit!", "Kernel.exit! 0",
           "Process.exit!(true)", "Process.daemon", "Process.daemon(true, true)"].freeze

  def test_calls_in_the_block_are_refused_where_they_are
    CALLS.each do |call|
      assert_run 0, /\A#{call[/exec|exit!|Process.daemon/]} would .*\nscript:1:in .*\n\z/, <<~RUBY
        def load = #{call}
        Bontebok::LoadingFence.guard { load }
      RUBY
    end
  end

  def test_calls_behind_the_block_are_not_refused
    assert_run 3, /\A\z/, "Bontebok::LoadingFence.guard { 1 }\nexit!(3)"
    assert_run 4, /\A\z/, "Bontebok::LoadingFence.guard { raise IndexError } rescue exec('exit 4')"
  end

  def test_forked_processes_may_make_the_calls
    assert_run 0, /\A\[5, 6, 0\]\n\z/, <<~RUBY
      Bontebok::LoadingFence.guard do
        pids = [fork { exit!(5) }, fork { exec("exit 6") }, fork { Process.daemon }]
        p(pids.map { |pid| Process.wait2(pid).last.exitstatus })
      end
    RUBY
  end

  def test_commands_are_no_such_calls
    assert_run 0, /\A\[true, "a\\n", "b\\n", 7\]\n\z/, <<~RUBY
      Bontebok::LoadingFence.guard do
        p [system("true"), `echo a`, IO.popen("echo b", &:read), Process.wait2(spawn("exit 7")).last.exitstatus]
      end
    RUBY
  end

  # CommandLimits may replace `exec` before or after this fence does.
  def test_the_limits_of_commands_open_no_way_round_the_fence
    limits = "Bontebok::CommandLimits.install(100, Process.getrlimit(:NOFILE).first)"
    fence = "Bontebok::LoadingFence.guard { 1 }"
    [[limits, fence], [fence, limits]].each do |first, second|
      assert_run 0, /\Aexec would .*\nscript:5:in .*\n\z/, <<~RUBY
        require "bontebok/system/replaced/command_limits"
        #{first}
        #{second}

        def load = exec("exit 7")
        Bontebok::LoadingFence.guard { load }
      RUBY
    end
    assert_run 7, /\A\z/, <<~RUBY
      require "bontebok/system/replaced/command_limits"
      #{fence}
      #{limits}
      exec("exit 7")
    RUBY
  end

  # As applications do that wrap the methods themselves.
  def test_methods_may_be_wrapped
    assert_run 8, /\Awrapped\n\z/, <<~RUBY
      Bontebok::LoadingFence.guard { 1 }
      module Kernel
        alias_method :former, :exit!
        def exit!(*status) = puts("wrapped") || former(*status)
      end
      exit!(8)
    RUBY
  end

  private

  # text: what the script prints, and the message and the place of an exception.
  def assert_run(status, text, script)
    program = <<~RUBY
      require "bontebok/system/replaced/loading_fence"
      $stdout.sync = true
      begin
        eval(#{script.dump}, TOPLEVEL_BINDING, "script", 1)
      rescue RuntimeError => e
        puts e.message, e.backtrace.first
      end
    RUBY
    child = Support::ChildProcess.run(RbConfig.ruby, "-w", "-I#{ROOT}/lib", "-e", program)
    assert_equal [status, ""], [child.status.exitstatus, child.output.text(:stderr)], script
    assert_match text, child.output.text(:stdout), script
  end
end
