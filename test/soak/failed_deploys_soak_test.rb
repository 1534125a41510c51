# frozen_string_literal: true

require "etc"
require "test_helper"
require_relative "../integration/support/control_case"

# Each deploy of a release that cannot be loaded fails once: the user learns the application's error, and no other
# master is started, although the release is good soon after. With BONTEBOK_TEST_FAILED_DEPLOYS=50 each test makes 50
# deploys.
class FailedDeploysSoakTest < Support::TestCase
  include ControlCase
  include Support::OnceMore

  DEPLOYS = Integer(ENV.fetch("BONTEBOK_TEST_FAILED_DEPLOYS", "10"))
  LOOPS_PER_CPU = 2
  BAD = "raise 'bad code'\n"
  # An exit handler of a C library: it runs when Ruby has closed all descriptors but the standard streams.
  SLOW_END = <<~RUBY
    require "fiddle"
    libc = Fiddle::Handle::DEFAULT
    add = Fiddle::Function.new(libc["__cxa_atexit"], [Fiddle::TYPE_VOIDP] * 3, Fiddle::TYPE_INT)
    add.call(Fiddle::Pointer.new(libc["sleep"]), 2, 0)
  RUBY

  def test_a_master_that_ends_slowly
    fail_again_and_again(SLOW_END + BAD)
  end

  def test_while_other_processes_use_all_processors
    (LOOPS_PER_CPU * Etc.nprocessors).times { start_process("sh", "-c", "while :; do :; done") }
    fail_again_and_again(BAD)
  end

  private

  def fail_again_and_again(bad)
    server = start("--keep-former", "600s")
    DEPLOYS.times do |index|
      release("bad#{index}", "config.ru" => bad)
      command = run_command("deploy", "--wait")
      release("good#{index}")
      assert_equal 1, command.status.exitstatus, command.output.text
      assert_match(/g#{index + 2} .*bad code \(RuntimeError\)/, command.output.text)
      assert_match(/^bontebok: the new master has (ended: exit status 1|failed before it was ready)$/,
                   command.output.text)
      eventually("one master") { Support::ProcessTable.children(server.pid).size == 1 }
    end
    assert_command 0, "generation #{DEPLOYS + 2} serves\n", "deploy", "--wait"
    assert_command 0, "generation 1 serves again\n", "rollback", "--wait"
  end
end
