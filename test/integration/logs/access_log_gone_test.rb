# frozen_string_literal: true

require "socket"
require "test_helper"
require_relative "../support/process_tree"

# An access log that cannot be opened any more, because its directory or the socket of syslog is gone. Workers serve
# requests without the log. They keep the lines in memory, and write them when the log can be opened again.
class AccessLogGoneTest < Support::TestCase
  include ProcessTree

  def test_lines_wait_until_the_directory_is_back
    [%w[-w 1], %w[-w 1 -t 3], %w[-w 2 --preload false]].each do |args|
      Dir.mkdir(directory)
      server = start("#{directory}/access.log", *args)
      FileUtils.rm_r(directory)
      replace_workers(server)
      server.wait_for_output(/warn .* the access log cannot be opened yet: No such file or directory/)
      assert_equal 200, server.get("/waits").status
      Dir.mkdir(directory)
      eventually { server.get("/again") && lines.include?("/waits") }
      assert_equal 0, server.stop.exitstatus
      assert_operator lines.count("/again"), :>, 0
      FileUtils.rm_r(directory)
    end
  end

  def test_lines_wait_until_the_socket_of_syslog_is_back
    path = "#{temp_dir}/syslog"
    receiver = syslog(path)
    server = start("syslog:socket=#{path}", "-w", "1")
    receiver.close
    File.unlink(path)
    replace_workers(server)
    assert_equal 200, server.get("/waits").status
    receiver = syslog(path)
    received = Thread.new { receiver.recvfrom(4096).first }
    eventually { server.get("/again") && !received.alive? }
    assert_match(%r{: /waits\z}, received.value)
  ensure
    receiver&.close
  end

  def test_lines_that_do_not_fit_into_memory_are_lost
    Dir.mkdir(directory)
    server = start("#{directory}/access.log", "-w", "1", format: "%U#{"x" * 1000}")
    FileUtils.rm_r(directory)
    replace_workers(server)
    server.connect do |client|
      100.times do
        client.request("GET", "/")
        assert_equal 200, client.read_response.status
      end
    end
    server.wait_for_output(/access log: a line is lost: No such file or directory/)
    assert_operator TotalsReader.new(server.pid).look["log lines lost"], :>=, 1
  end

  def test_hup_opens_the_log_at_once
    Dir.mkdir(directory)
    server = start("#{directory}/access.log", "-w", "1")
    FileUtils.rm_r(directory)
    replace_workers(server)
    Dir.mkdir(directory)
    replace_workers(server)
    assert_path_exists "#{directory}/access.log"
  end

  def test_a_first_start_without_the_log_fails
    server = start("#{directory}/access.log", "-w", "1", ready: false)
    assert_equal 1, server.wait.exitstatus
    assert_match(/access_log .*access.log: its directory does not exist/, server.output.text)
  end

  private

  def start(target, *args, format: "%U", ready: true)
    server = start_bontebok(rackup: GATED_APP, ready: ready,
                            args: [*args, "--access-log", target, "--access-log-format", format])
    server.wait_for_output(/ ready in /) if ready
    server
  end

  def replace_workers(server)
    former = workers(server)
    server.signal("HUP")
    wait_for_workers(server, former.size, without: former)
  end

  def syslog(path)
    Socket.new(:UNIX, :DGRAM).tap { |socket| socket.bind(Socket.pack_sockaddr_un(path)) }
  end

  def directory
    "#{temp_dir}/logs"
  end

  def lines
    File.exist?("#{directory}/access.log") ? File.readlines("#{directory}/access.log", chomp: true) : []
  end
end
