# frozen_string_literal: true

require "test_helper"
require "bontebok/fork_guard"

# What the application forks does not keep our listeners open. Each case in a Ruby of its own, since the guard stays.
class ForkGuardTest < Support::TestCase
  def test_a_fork_of_the_application_has_it_closed_and_the_parent_keeps_it
    assert_equal "child true\nparent false\n", run_ruby(<<~RUBY)
      Bontebok::ForkGuard.install(guarded)
      Process.wait(fork { puts "child \#{guarded.closed?}" })
      puts "parent \#{guarded.closed?}"
    RUBY
  end

  def test_a_fork_of_our_own_keeps_it_and_guards_what_it_says
    assert_equal "ours false\ntheirs true\n", run_ruby(<<~RUBY)
      Bontebok::ForkGuard.install(guarded)
      Process.wait(Bontebok::ForkGuard.pass do
        fork do
          puts "ours \#{guarded.closed?}"
          Bontebok::ForkGuard.install(guarded)
          Process.wait(fork { puts "theirs \#{guarded.closed?}" })
        end
      end)
    RUBY
  end

  def test_the_guard_stands_again_after_a_fork_of_our_own
    assert_equal "true\n", run_ruby(<<~RUBY)
      Bontebok::ForkGuard.install(guarded)
      Process.wait(Bontebok::ForkGuard.pass { fork { exit!(0) } })
      Process.wait(fork { puts guarded.closed? })
    RUBY
  end

  private

  def run_ruby(text)
    script = "require 'bontebok/fork_guard'\n$stdout.sync = true\nguarded = File.open(File::NULL)\n#{text}"
    child = Support::ChildProcess.run(RbConfig.ruby, "-I#{ROOT}/lib", "-e", script)
    assert_equal "", child.output.text(:stderr)
    child.output.text(:stdout)
  end
end
