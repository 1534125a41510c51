# frozen_string_literal: true

require "test_helper"

# An application that ends or replaces the process that loads it. cli_start_test.rb tests exceptions, exit and abort.
# deploy_test.rb tests that the former generation serves on.
class LoadingEndsTest < Support::TestCase
  APP = "run ->(_) { [200, {}, []] }\n"

  # Ruby would run neither an exit handler nor an ensure.
  def test_an_application_that_replaces_or_leaves_its_process_fails_the_start
    { "Process.daemon" => %w[-w 0], "exec 'true'" => %w[-w 0], "exit! 0 if fork" => %w[-w 0],
      "Process.daemon(true)" => %w[-w 1], "Kernel.exec 'true'" => %w[-w 1 --preload false] }.each do |call, args|
      server = failed_start(args: [*args, "--pidfile", "a.pid"], rackup: "\n#{call}\n#{APP}")
      assert_equal 1, server.status.exitstatus, call
      assert_match(/ error .* cannot be loaded: \S+ would (end|replace) the server's process\. [A-Z].+$/,
                   server.output.text)
      assert_match(%r{^  #{temp_dir}/config\.ru:2:in }, server.output.text)
      assert_equal ["config.ru"], Dir.children(temp_dir)
    end
  end

  # A library of C can end the process as well.
  def test_the_log_has_a_reason_when_a_process_has_ended_without_one
    server = failed_start(args: %w[-w 1], rackup: "Thread.new { exit!(0) }.join")
    assert_match(/ master \(pid \d+\) ended before it was ready: exit status 0: the application has ended it$/,
                 server.output.text)
    assert_equal 1, server.status.exitstatus
  end

  private

  def failed_start(**options)
    server = start_bontebok(ready: false, **options)
    server.wait
    server.output.wait_for_end
    server
  end
end
