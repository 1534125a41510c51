# frozen_string_literal: true

require "digest"
require "test_helper"
require_relative "support/test_case"

# Sends requests to a Sinatra application behind Rack::Lint, over TCP, over a unix socket, and through nginx.
class SinatraTest < Interop::TestCase
  APPLICATION = File.expand_path("apps/sinatra_app", __dir__)

  def setup
    start_site(args: ["-w", "1", "-t", "2", "-E", "production"], rackup: <<~RUBY)
      require #{APPLICATION.dump}
      use Rack::Lint
      run SinatraApp
    RUBY
  end

  def test_the_application_gets_path_and_query_in_utf8
    at_each_entrance do |browser|
      response = browser.get("/hello/K%C3%A4the?greeting=%C3%BCber+all")
      assert_equal [200, "hello Käthe über all".b], [response.status, response.body]
    end
  end

  def test_a_form_is_read
    at_each_entrance do |browser|
      response = browser.post_form("/form", "name" => "Käthe & Co", "empty" => "")
      assert_equal [200, "empty=\nname=Käthe & Co\n".b], [response.status, response.body]
    end
  end

  # The server writes the larger upload to a spool file.
  def test_an_upload_is_read
    { "small" => 1024, "large" => 3 * 1024 * 1024 }.each do |name, size|
      bytes = Random.new(1).bytes(size)
      at_each_entrance do |browser|
        response = browser.upload("/upload", { "note" => "a note" }, ["file", "#{name}.bin", bytes])
        assert_equal 200, response.status
        assert_equal "a note #{name}.bin #{size} #{Digest::SHA256.hexdigest(bytes)}", response.body
      end
    end
  end

  def test_an_upload_in_chunks_is_read
    parts = Array.new(30) { |number| Random.new(number).bytes(1 + (number * 4000)) }
    at_each_entrance do |browser|
      assert_equal Digest::SHA256.hexdigest(parts.join), browser.post_chunked("/raw", parts).body
    end
  end

  def test_a_session_is_kept_in_a_cookie
    at_each_entrance do |browser|
      assert_equal %w[1 2 3], Array.new(3) { browser.get("/count").body }
      browser.cookies.clear
      assert_equal "1", browser.get("/count").body
    end
  end

  def test_each_cookie_is_sent_in_a_field_of_its_own
    at_each_entrance do |browser|
      assert_equal %w[a=1 b=2%3B+3], browser.get("/cookies").all("Set-Cookie").first(2)
    end
  end

  def test_a_static_file_is_served
    at_each_entrance do |browser|
      whole = browser.get("/static.txt")
      assert_equal [200, "a static file\n", "14"], [whole.status, whole.body, whole["Content-Length"]]
      part = browser.get("/static.txt", "Range" => "bytes=2-7")
      assert_equal [206, "static", "bytes 2-7/14"], [part.status, part.body, part["Content-Range"]]
      unchanged = browser.get("/static.txt", "If-Modified-Since" => whole["Last-Modified"])
      assert_equal [304, ""], [unchanged.status, unchanged.body]
    end
  end

  def test_a_stream_is_sent
    at_each_entrance do |browser|
      response = browser.get("/stream")
      assert_equal [200, "part 0\npart 1\npart 2\n"], [response.status, response.body]
    end
  end

  # stream(:keep_open): the thread of another request writes while the thread that serves the subscriber waits.
  def test_other_requests_write_to_a_stream_that_is_kept_open
    at_each_entrance do |browser, name|
      Support::Client.open(@entrances[name]) do |subscriber|
        subscriber.request("GET", "/subscribe", { "Host" => "localhost" })
        await_line(subscriber, "heartbeat:")

        sent = browser.post_form("/messages/hello", {}).body
        await_line(subscriber, "hello") if sent == "message sent"
        browser.post_form("/leave", {})
        await_line(subscriber, "0")

        assert_equal "message sent", sent
      end
    end
  end

  # The streams have both threads of the server, and write nothing more.
  def test_the_streams_of_clients_that_have_left_occupy_no_thread
    at_each_entrance do |browser, name|
      clients = Array.new(2) { Support::Client.new(@entrances[name]) }
      clients.each do |client|
        client.request("GET", "/events", { "Host" => "localhost" })
        await_line(client, "data: first")
      end
      clients.each(&:close)

      assert_equal 200, browser.get("/hello/you").status
    end
  end

  def test_a_response_to_head_has_no_body
    at_each_entrance do |browser|
      response = browser.head("/hello/you")
      assert_equal [200, "10", ""], [response.status, response["Content-Length"], response.body]
    end
  end

  def test_a_redirect_and_a_missing_page_are_sent
    at_each_entrance do |browser|
      away = browser.get("/away")
      assert_equal 302, away.status
      assert_match %r{\Ahttps?://localhost/hello/you\z}, away["Location"]
      assert_equal 404, browser.get("/nowhere").status
    end
  end

  def test_the_server_survives_an_exception
    at_each_entrance do |browser|
      assert_equal 500, browser.get("/raise").status
      assert_equal "hello you ", browser.get("/hello/you").body
    end
    @server.wait_for_output(/on purpose/)
  end

  def test_the_application_gets_the_scheme_from_the_proxy
    at_each_entrance do |browser, name|
      assert_equal name.start_with?("nginx").to_s, browser.get("/secure").body
    end
  end

  private

  def await_line(client, line)
    nil until client.read_line.chomp == line
  end
end
