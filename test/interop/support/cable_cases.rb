# frozen_string_literal: true

require "digest"
require_relative "cable_site"

module Interop
  # Tests of Action Cable, Turbo Streams, server-sent events and downloads, with Chromium. A test case that includes
  # this module also includes CableSite.
  module CableCases
    ECHOES = Support::Length.of(200, 1000)
    BROADCASTS = Support::Length.of(10, 50)
    # Seconds until a page is connected again. Action Cable needs up to 18 seconds.
    RECONNECTED = 60

    # The lines of docs/RAILS.md that load a page again when it is connected again.
    REFRESH = File.read(File.join(ROOT, "docs/RAILS.md"))[/^`app.javascript.application.js`:\n\n```js\n(.*?)^```/m, 1]

    def test_messages_are_echoed
      page = open_page
      page.call("sendAll", ECHOES)
      eventually("all echoes", seen: -> { [page["echoes"].size] }) { page["echoes"].size >= ECHOES }
      assert_equal (1..ECHOES).to_a, page["echoes"].sort
    end

    def test_broadcasts_reach_every_page
      pages = open_pages
      BROADCASTS.times { |number| broadcast(number) }
      pages.each do |page|
        eventually("all notes", seen: -> { [page["notes"]] }) { page.shown == BROADCASTS }
        assert_equal (0...BROADCASTS).to_a, page["notes"].sort
      end
    end

    def test_action_controller_live_sends_events
      response = @server.get("/events", { "Last-Event-ID" => "40" })
      assert_equal [200, "text/event-stream"], [response.status, response["Content-Type"]]
      assert_equal (41..60).to_a, response.body.scan(/^data: (\d+)$/).flatten.map(&:to_i)
    end

    def test_turbo_gets_streams_by_server_sent_events
      page = open_page
      page.call("listen")
      eventually("ticks") { page.call("ticks").size > 50 }
      ticks = page.call("ticks")
      assert_equal (1..ticks.size).to_a, ticks
    end

    def test_server_sent_events_arrive_beside_action_cable
      page = open_page
      page.call("listen")
      # The browser continues on several connections, one after the other.
      eventually("events", seen: -> { [page["events"], page["errors"]] }) { page["events"].size > 50 }
      events = page["events"]
      assert_equal (1..events.size).to_a, events
      page.call("sendAll", 1)
      eventually { page["echoes"] == [1] }
    end

    def test_an_interrupted_download_is_resumed
      assert_resumed "/large.bin"
    end

    # No message of an open connection is lost. Each message of a page waits for its echo. A broadcast reaches each page
    # whose connection is open before and after the broadcast.
    def test_clients_connect_again
      pages = open_pages
      pages.each do |page|
        page.run(REFRESH)
        page.call("start")
      end
      change("a recycling", pages) { |workers| @keeper.recycle(@server, workers.first(1)) }
      change("a new master", pages) { |workers| @keeper.replace(@server, workers) } if Support::Length::LONG
      pages.each { |page| assert_nothing_lost(page) }
      broadcast(@number += 1)
      pages.each { |page| eventually("the last note") { page["notes"].last == @number } }
    end

    private

    # Broadcasts to all pages while workers are replaced. Waits until no page has one of the old workers. The block gets
    # the process ids of the pages' workers, replaces some or all of them, and returns the process ids of the old ones.
    def change(what, pages)
      old = yield pages.map(&:worker).uniq
      @number ||= 0
      eventually("the end of old workers after #{what}", limit: RECONNECTED) do
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
        eventually("note #{number}", seen: -> { [page["notes"]] }) do
          page.subscription != subscription || page["notes"].include?(number)
        end
      end
    end

    def assert_nothing_lost(page)
      page.call("stop")
      eventually("the last echo", seen: -> { [page["asked"]] }) { page["asked"].zero? }
      echoes = page["echoes"]
      assert_equal (1..echoes.size).to_a, echoes
      assert_operator page["resent"], :<, page["connections"]
      assert_equal ["server_restart"] * (page["connections"] - 1), page["farewells"]
      assert_empty page["errors"]
      visits = page["visits"].map { |url, action| [url.delete_suffix("?impatient"), action] }
      assert_equal [["http://#{@server.address}/", "replace"]] * (page["subscribed"] - 1), visits
    end

    def assert_resumed(path)
      digest = Digest::SHA256.file(File.join(CableApp.directory, "public/large.bin")).hexdigest
      result = open_page.call("download", path)
      read = result["read"]
      assert_equal [206, "bytes #{read}-#{CableApp::LARGE - 1}/#{CableApp::LARGE}", digest],
                   result.values_at("status", "range", "digest")
      assert_equal digest, download_with_curl(path)
    end

    # Breaks a download off, and continues it with curl. Returns the digest of the whole.
    def download_with_curl(path)
      file = File.join(temp_dir, "download")
      @server.connect do |client|
        client.write("GET #{path} HTTP/1.0\r\n\r\n")
        nil until client.read_line == "\r\n"
        File.binwrite(file, client.read(1_000_000))
      end
      url = "http://#{@server.address}#{path}"
      curl = Support::ChildProcess.run("curl", "-sS", "--fail", "--continue-at", "-", "-o", file, url)
      assert_predicate curl.status, :success?, curl.output.text
      Digest::SHA256.file(file).hexdigest
    end
  end
end
