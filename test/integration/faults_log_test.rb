# frozen_string_literal: true

require "fcntl"
require "test_helper"

# A log that takes no more: the file is as large as the limit of the process allows (ulimit -f), or nobody reads.
class FaultsLogTest < Support::TestCase
  LIMIT = 4096
  ROOM = 100

  def test_a_log_file_at_its_limit_costs_lines_and_no_request
    log = temp_file("log", "x" * (LIMIT - ROOM))
    start_bontebok(ready: false, args: %w[-w 1 -E production], rlimit_fsize: LIMIT, err: [log, "a"], rackup: <<~RUBY)
      run(lambda do |env|
        $stderr.puts "said by the application" if env["PATH_INFO"] == "/say"
        [200, {}, ["served"]]
      end)
    RUBY
    # Its start lines are among those that are lost.
    eventually { File.exist?(socket) && ask("/") == [200, "served"] }
    assert_equal LIMIT, File.size(log)
    assert_equal 500, ask("/say").first
    assert_equal [200, "served"], ask("/")
    assert_equal LIMIT, File.size(log)
  end

  def test_a_log_that_nobody_reads_costs_lines_and_no_request
    IO.pipe do |_, log|
      log.fcntl(Fcntl::F_SETPIPE_SZ, 8192)
      start_bontebok(ready: false, args: %w[-w 1 -E production], err: log, rackup: <<~RUBY)
        run ->(_env) { raise "x" * 20_000 }
      RUBY
      eventually { File.exist?(socket) && ask("/")&.first == 500 }
      3.times { assert_equal 500, ask("/").first }
    end
  end

  private

  def socket
    File.join(temp_dir, "bontebok.sock")
  end

  def ask(target)
    Support::Client.open("unix:#{socket}") do |client|
      client.request("GET", target)
      client.read_response.then { |response| [response.status, response.body] }
    end
  rescue Errno::ECONNREFUSED
    nil # bound, and does not listen yet
  end
end
