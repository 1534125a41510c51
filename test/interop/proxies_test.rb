# frozen_string_literal: true

require "digest"
require "test_helper"
require_relative "support/test_case"

# Runs HAProxy and H2O in front of the server. The tests of Rails and Sinatra use nginx.
class ProxiesTest < Interop::TestCase
  ECHO = File.read(File.expand_path("apps/echo.ru", __dir__))

  def setup
    start_site(args: ["-w", "1", "-E", "production"], rackup: ECHO, proxies: [Interop::Haproxy, Interop::H2o])
  end

  def line(method, target, body = "")
    path, query = target.split("?")
    "#{method} #{path} #{query} #{body.bytesize} #{Digest::SHA256.hexdigest(body)}\n"
  end

  def test_each_of_six_requests_on_one_connection_gets_its_response
    at_each_entrance do |browser|
      3.times do |number|
        assert_equal line("GET", "/a/#{number}?b=c"), browser.get("/a/#{number}?b=c").body
        assert_equal line("POST", "/form", "x=#{number}"), browser.post_form("/form", "x" => number).body
      end
    end
  end

  def test_an_upload_of_known_length_is_read
    bytes = Random.new(1).bytes(3 * 1024 * 1024)
    at_each_entrance do |browser|
      response = browser.request("PUT", "/upload", { "Content-Type" => "application/octet-stream" }, bytes)
      assert_equal line("PUT", "/upload", bytes), response.body
    end
  end

  def test_an_upload_in_chunks_is_read
    parts = Array.new(30) { |number| Random.new(number).bytes(1 + (number * 4000)) }
    at_each_entrance do |browser|
      assert_equal line("POST", "/chunks", parts.join), browser.post_chunked("/chunks", parts).body
    end
  end

  def test_a_response_to_head_has_no_body
    at_each_entrance do |browser|
      response = browser.head("/")
      assert_equal [200, ""], [response.status, response.body]
    end
  end

  # The proxies keep their connections to the server open. Each of 20 clients, with its own connection, must get a
  # response.
  def test_twenty_clients_at_once_get_their_responses
    at_each_entrance do |_browser, name|
      clients = Array.new(20) { Interop::Browser.new(@entrances.fetch(name)) }
      responses = clients.map.with_index { |client, number| Thread.new { client.get("/#{number}").body } }.map(&:value)
      assert_equal Array.new(20) { |number| line("GET", "/#{number}") }, responses
    ensure
      clients&.each(&:close)
    end
  end
end
