# frozen_string_literal: true

require "test_helper"
require_relative "worker_watch"

# Clients that ask for much and read nothing.
class FaultsReaderTest < Support::TestCase
  include WorkerWatch

  APPLICATION = <<~RUBY
    body = Class.new do
      PART = "x" * 65_536
      def each
        $stderr.puts "begun"
        (1024 * 1024 * 1024 / PART.bytesize).times { yield PART }
        $stderr.puts "whole"
      end

      def close = $stderr.puts("closed")
    end
    run ->(env) { env["PATH_INFO"] == "/large" ? [200, {}, body.new] : [200, {}, ["small"]] }
  RUBY
  MEMORY_LIMIT = 4 * 1024 * 1024
  # Long enough to tell once from twice with room for a machine that is busy.
  WRITE_TIMEOUT = 4
  WRITE_TIME_LIMIT = (1.7 * WRITE_TIMEOUT) + 1

  def private_bytes
    File.read("/proc/#{@worker}/smaps_rollup").scan(/^Private_\w+:\s+(\d+)/).sum { |(kib)| kib.to_i } * 1024
  end

  # The most that the worker held while it served a client that reads nothing.
  def memory_until_closed
    most = 0
    eventually(30, "the body to be closed:\n#{@server.output.text}") do
      most = [most, private_bytes].max
      @server.output.text.include?("closed")
    end
    most
  end

  %i[tcp unix].each do |transport|
    define_method("test_a_gigabyte_for_a_client_that_reads_nothing_over_#{transport}") do
      start_watched(listen: transport, args: ["--write-timeout", WRITE_TIMEOUT.to_s], rackup: APPLICATION)
      before = private_bytes
      @server.connect do |client|
        client.request("GET", "/large")
        @server.wait_for_output(/begun/)
        begun = Support::Deadline.now
        assert_operator memory_until_closed - before, :<, MEMORY_LIMIT
        assert_includes (WRITE_TIMEOUT / 2)..WRITE_TIME_LIMIT, Support::Deadline.now - begun
        # Only a reset tells that the answer is not whole, whatever was read of it; a unix socket just ends.
        assert_raises(Support::Client::Closed) { client.read_response }
      end
      refute_match(/whole/, @server.output.text)
      assert_equal 1, @server.output.text.scan("closed").size
      assert_unharmed
    end
  end

  # Slow is not dead: as long as it reads something it is served.
  def test_a_client_that_reads_slowly_but_reads
    start_watched(listen: :tcp, args: %w[--write-timeout 1], rackup: APPLICATION)
    @server.connect do |client|
      client.request("GET", "/large")
      6.times do
        client.read(4 * 1024 * 1024)
        pause
      end
      client.reset
    end
    @server.wait_for_output(/closed/)
    assert_unharmed
  end

  # What is small enough for ResponseBuffer costs no lane, however slowly it is read.
  def test_answers_that_nobody_reads_do_not_hold_the_lane
    start_watched(listen: :unix, args: %w[--write-timeout 30], rackup: <<~RUBY)
      run ->(_env) { [200, {}, ["x" * 900_000]] }
    RUBY
    lazy = Array.new(5) { Support::Client.new(@server.address).tap { |client| client.request("GET", "/") } }
    assert_equal 900_000, @server.get.body.bytesize
    lazy.each { |client| assert_equal 900_000, client.read_response.body.bytesize }
  ensure
    lazy&.each(&:close)
  end
end
