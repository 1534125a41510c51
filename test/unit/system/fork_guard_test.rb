# frozen_string_literal: true

require "test_helper"
require "bontebok/system/fork_guard"

# Tests the guard, a block that runs in processes that the application forks. Each test starts a new Ruby process,
# because a guard cannot be removed.
class ForkGuardTest < Support::TestCase
  def test_the_guard_acts_in_a_fork_of_the_application_and_not_in_the_parent
    assert_equal "guard\nchild\nparent\n", run_ruby(<<~RUBY)
      Process.wait(fork { puts "child" })
      puts "parent"
    RUBY
  end

  def test_the_guard_acts_at_every_fork_but_not_again_in_a_fork_of_a_fork
    assert_equal "guard\nguard\nchild\ngrandchild\n", run_ruby(<<~RUBY)
      Process.wait(fork {})
      Process.wait(fork { puts "child"; Process.wait(fork { puts "grandchild" }) })
    RUBY
  end

  def test_a_fork_of_the_server_passes_and_may_install_a_new_guard
    assert_equal "ours\nnew guard\ntheirs\n", run_ruby(<<~RUBY)
      Process.wait(Bontebok::ForkGuard.pass do
        fork do
          puts "ours"
          Bontebok::ForkGuard.install { puts "new guard" }
          Process.wait(fork { puts "theirs" })
        end
      end)
    RUBY
  end

  def test_a_fork_of_another_thread_does_not_pass
    assert_equal "guard\nchild\n", run_ruby(<<~RUBY)
      Bontebok::ForkGuard.pass { Thread.new { Process.wait(fork { puts "child" }) }.join }
    RUBY
  end

  def test_the_guard_acts_again_after_a_fork_of_the_server
    assert_equal "guard\nchild\n", run_ruby(<<~RUBY)
      Process.wait(Bontebok::ForkGuard.pass { fork { exit!(0) } })
      Process.wait(fork { puts "child" })
    RUBY
  end

  private

  def run_ruby(text)
    script = "require 'bontebok/system/fork_guard'\n$stdout.sync = true\n" \
             "Bontebok::ForkGuard.install { puts 'guard' }\n#{text}"
    child = Support::ChildProcess.run(RbConfig.ruby, "-I#{ROOT}/lib", "-e", script)
    assert_equal "", child.output.text(:stderr)
    child.output.text(:stdout)
  end
end
