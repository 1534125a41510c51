# frozen_string_literal: true

require_relative "cable_site"

module Interop
  # Pages of Chromium connect to Action Cable again while workers are replaced. A test case that includes this module
  # also includes CableSite. Without a free processor, Action Cable in the page closes connections by itself: if it gets
  # no message for 6 seconds.
  module CableReconnection
    # Seconds until a page is connected again. Action Cable needs up to 18 seconds.
    RECONNECTED = 60

    # No message of an open connection is lost. Each message of a page waits for its echo. A broadcast reaches each page
    # whose connection is open before and after the broadcast.
    def test_clients_connect_again
      pages = open_pages
      pages.each { |page| page.call("start") }
      change("a recycling", pages) { |workers| @keeper.recycle(@server, workers.first(1)) }
      change("a new master", pages) { |workers| @keeper.replace(@server, workers) } if Support::Length::LONG
      pages.each { |page| assert_nothing_lost(page) }
      broadcast(@number += 1)
      pages.each { |page| eventually(10, "the last note") { page["notes"].last == @number } }
    end

    private

    # Broadcasts to all pages while workers are replaced. Waits until no page has one of the old workers. The block gets
    # the process ids of the pages' workers, replaces some or all of them, and returns the process ids of the old ones.
    def change(what, pages)
      old = yield pages.map(&:worker).uniq
      @number ||= 0
      eventually(RECONNECTED, "the end of old workers after #{what}") do
        deliver(@number += 1, pages)
        old.none? { |pid| Support::ProcessTable.entry(pid) }
      end
      pages.each do |page|
        page.wait_until_connected(RECONNECTED)
        refute_includes old, page.worker, "after #{what}"
      end
    end

    # Broadcasts a note. Waits until each page has it, except pages whose connection has ended meanwhile.
    def deliver(number, pages)
      open = pages.to_h { |page| [page, page.subscription] }.compact
      broadcast(number)
      open.each do |page, subscription|
        eventually(10, "note #{number}", seen: -> { [page["notes"]] }) do
          page.subscription != subscription || page["notes"].include?(number)
        end
      end
    end

    def assert_nothing_lost(page)
      page.call("stop")
      eventually(10, "the last echo", seen: -> { [page["asked"]] }) { page["asked"].zero? }
      echoes = page["echoes"]
      assert_equal (1..echoes.size).to_a, echoes
      assert_operator page["resent"], :<, page["connections"]
      assert_equal ["server_restart"] * (page["connections"] - 1), page["farewells"]
      assert_empty page["errors"]
    end
  end
end
