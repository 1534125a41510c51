# frozen_string_literal: true

require "json"
require "test_helper"
require_relative "../integration/support/process_tree"

# 100,000 requests while workers come and go, for each way in which they do: over TCP and a unix socket, kept alive and
# with a new connection for each, all at once. Not one of them is refused, reset or cut short. StartServerSoakTest has
# the same under start_server.
class SoakTest < Support::TestCase
  include Support::OnceMore
  include ProcessTree

  LOAD_TOOL = File.join(ROOT, "lib/bontebok/bontebok-bench")
  # Of each of the four loads. The rate leaves time for many turns, and the machine for those who take them.
  REQUESTS = 25_000
  RATE = 3_000
  LOST = %w[refused reset short timeout status local].to_h { |fate| [fate, 0] }.freeze

  def test_recycling_after_a_hundred_requests
    soak("--max-request-per-child", "100")
    assert_operator @server.output.text.scan(" ends after ").size, :>=, 50
  end

  def test_more_workers_and_fewer
    turns = soak do
      @server.signal("TTIN")
      wait_for_workers(@server, 3)
      @server.signal("TTOU")
      wait_for_workers(@server, 2)
    end
    assert_operator turns, :>=, 5
  end

  %w[USR1 HUP].each do |signal|
    define_method("test_workers_replaced_by_#{signal}") do
      turns = soak do
        former = wait_for_workers(@server, 2)
        @server.signal(signal)
        wait_for_workers(@server, 2, without: former)
      end
      assert_operator turns, :>=, 5
    end
  end

  private

  # Takes turns of the block until all requests have their fate; returns how many turns there were.
  def soak(*args)
    @server = start_bontebok(listen: :tcp, args: ["-l", "unix:#{temp_dir}/soak.sock", "-w", "2", *args],
                             rackup: %(run ->(_env) { [200, {}, ["Hello"]] }))
    @server.wait_for_output(/ ready in /)
    loads = urls.flat_map { |url| [load_of(url), load_of(url, "--close")] }
    turns = 0
    while loads.any?(&:running?)
      block_given? ? yield : eventually(60) { loads.none?(&:running?) }
      turns += 1
    end
    loads.each { |load| assert_nothing_lost(load) }
    turns
  end

  def urls
    @server.addresses.map { |address| address.unix? ? "#{address}:/" : "http://#{address}/" }
  end

  def load_of(url, *options)
    start_process(LOAD_TOOL, "--json", "-c", "8", "--rate", RATE.to_s, "-n", REQUESTS.to_s, *options, url)
  end

  def assert_nothing_lost(load)
    load.wait(60)
    load.output.wait_for_end
    result = JSON.parse(load.output.text(:stdout))
    assert_equal LOST, result["errors"], @server.output.text
    assert_equal REQUESTS, result["ok"]
  end
end
