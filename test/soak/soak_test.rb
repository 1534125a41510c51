# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/process_tree"
require_relative "support/nothing_lost"

# Each test sends at least 100,000 requests while workers are replaced. Four load generators run at the same time, over
# TCP and over a unix socket. Two generators keep their connections, and two open a new connection for each request. No
# request may be refused, reset or cut short. StartServerSoakTest does the same under start_server.
class SoakTest < Support::TestCase
  include Support::OnceMore
  include ProcessTree
  include NothingLost

  LOAD_TOOL = File.join(ROOT, "lib/bontebok/bontebok-bench")
  # Requests, and requests per second, of each of the four load generators. At this rate, there is enough time and
  # processor time for many replacements.
  REQUESTS = 25_000
  RATE = 3_000

  # A worker is replaced when the former one has ended, which takes longer on a slow machine.
  def test_recycling_after_a_hundred_requests_loses_no_request
    start("--max-request-per-child", "100")
    eventually("50 replacements", limit: 300) do
      run_loads
      @server.output.text.scan(" ends after ").size >= 50
    end
  end

  def test_a_change_of_the_number_of_workers_loses_no_request
    turns = soak do
      @server.signal("TTIN")
      wait_for_workers(@server, 3)
      @server.signal("TTOU")
      wait_for_workers(@server, 2)
    end
    assert_operator turns, :>=, 5
  end

  %w[USR1 HUP].each do |signal|
    define_method("test_a_replacement_by_#{signal}_loses_no_request") do
      turns = soak do
        former = wait_for_workers(@server, 2)
        @server.signal(signal)
        wait_for_workers(@server, 2, without: former)
      end
      assert_operator turns, :>=, 5
    end
  end

  private

  def soak(&)
    start
    run_loads(&)
  end

  def start(*args)
    @server = start_bontebok(listen: :tcp, args: ["-l", "unix:#{temp_dir}/soak.sock", "-w", "2", *args],
                             rackup: %(run ->(_env) { [200, {}, ["Hello"]] }))
    @server.wait_for_output(/ ready in /)
  end

  # Runs the block again and again until all requests have ended. Returns how many times the block has run.
  def run_loads
    loads = urls.flat_map { |url| [load_of(url), load_of(url, "--close")] }
    turns = 0
    while loads.any?(&:running?)
      block_given? ? yield : eventually { loads.none?(&:running?) }
      turns += 1
    end
    loads.each { |load| assert_equal REQUESTS, assert_nothing_lost(load, -> { @server.output.text })["ok"] }
    turns
  end

  def urls
    @server.addresses.map { |address| address.unix? ? "#{address}:/" : "http://#{address}/" }
  end

  def load_of(url, *options)
    start_process(LOAD_TOOL, "--json", "-c", "8", "--rate", RATE.to_s, "-n", REQUESTS.to_s, *options, url)
  end
end
