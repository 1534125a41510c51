# frozen_string_literal: true

require "test_helper"
require "timeout"
require "bontebok/sockets/adopted_sockets"
require "bontebok/log/log"

# Tests the descriptors in the environment variables of start_server and of systemd.
class AdoptedSocketsTest < Minitest::Test
  def test_all_entries_of_start_server_are_adopted
    assert_equal({ 4 => "start_server (8080)", 5 => "start_server ([::1]:80)", 12 => "start_server (/run/a.sock)" },
                 take("SERVER_STARTER_PORT" => "8080=4;[::1]:80=5;/run/a.sock=12"))
  end

  def test_a_path_may_contain_the_separators_of_entries
    assert_equal({ 4 => "start_server (/a=1=2)", 5 => "start_server (/b;c)", 6 => "start_server (\u{fffd})" },
                 take("SERVER_STARTER_PORT" => "/a=1=2=4;/b;c=5;\xff=6"))
  end

  def test_a_malformed_variable_of_start_server_is_an_error
    %w[8080 8080= 8080=x =4 8080=4;9 8080=4;;x 8080=-1].each do |text|
      error = assert_raises(Bontebok::UsageError, text) { take("SERVER_STARTER_PORT" => text) }
      assert_equal "SERVER_STARTER_PORT wants ADDRESS=DESCRIPTOR;..., not #{text.inspect}", error.message
    end
  end

  # The kernel passes variables of up to 128 KiB. Quadratic time would be a minute.
  def test_a_long_variable_of_start_server_costs_no_time
    ["=" * 120_000, "=1" * 60_000, "80=4;" * 24_000].each do |text|
      Timeout.timeout(60) { assert_raises(Bontebok::UsageError) { take("SERVER_STARTER_PORT" => "#{text};x") } }
    end
  end

  def test_descriptors_of_systemd_begin_with_three
    assert_equal({ 3 => "systemd (web)", 4 => "systemd", 5 => "systemd (app)" },
                 take(systemd("3", "LISTEN_FDNAMES" => "web::app")))
    assert_equal({ 3 => "systemd" }, take(systemd("1")))
    assert_empty take(systemd("0"))
  end

  def test_a_malformed_count_of_systemd_is_an_error
    %w[all -1 99999999].each do |count|
      error = assert_raises(Bontebok::UsageError) { take(systemd(count)) }
      assert_equal "LISTEN_FDS wants a number, not #{count.inspect}", error.message
    end
  end

  # If the variables are for another process, the descriptors with these numbers can be any files.
  def test_descriptors_for_another_process_are_not_adopted
    assert_empty take("LISTEN_FDS" => "1", "LISTEN_PID" => "1")
    assert_match(/ warn \d+ \S+ \S+ LISTEN_FDS is not for this process: LISTEN_PID is "1"$/, @log)
    assert_empty take("LISTEN_FDS" => "1", "LISTEN_PID" => "\xff")
    assert_empty take("LISTEN_FDS" => "1")
    assert_match(/ LISTEN_PID is not set$/, @log)
  end

  def test_both_protocols_are_used_and_no_descriptor_is_adopted_twice
    assert_equal [3, 9], take(systemd("1", "SERVER_STARTER_PORT" => "80=3;81=9")).keys.sort
  end

  def test_an_environment_without_descriptors_has_no_entries
    assert_empty take({})
    assert_empty take("SERVER_STARTER_PORT" => " ", "LISTEN_FDS" => "", "LISTEN_PID" => "1")
    assert_equal :wait_readable, @log
  end

  # A command that the application executes does not have these descriptors, so it must not see the variables.
  def test_the_variables_are_removed
    environment = systemd("1", "LISTEN_FDNAMES" => "a", "SERVER_STARTER_PORT" => "80=4", "HOME" => "/")
    take(environment)
    assert_equal({ "HOME" => "/" }, environment)
    take(environment = { "LISTEN_FDS" => "1", "LISTEN_PID" => "1" })
    assert_empty environment
  end

  private

  def systemd(count, others = {})
    { "LISTEN_FDS" => count, "LISTEN_PID" => Process.pid.to_s, **others }
  end

  # Returns { descriptor => origin }.
  def take(environment)
    reader, writer = IO.pipe
    entries = Bontebok::AdoptedSockets.take(environment, log: Bontebok::Log.new(writer))
    entries.to_h { |entry| [entry.fileno, entry.origin] }
  ensure
    @log = reader.read_nonblock(4096, exception: false)
    [reader, writer].each(&:close)
  end
end
