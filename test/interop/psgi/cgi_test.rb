# frozen_string_literal: true

require "digest"
require "test_helper"
require_relative "support/psgi_case"

# A CGI script behind Plack::App::WrapCGI. A worker runs the compiled script itself, and forks for each request that
# executes the script.
class CgiTest < Interop::PsgiCase
  def application = "cgi"

  # These entrances also execute the script. It takes long, so the others do not.
  EXECUTING = ["nginx", "TCP of start_server"].freeze

  def at_each_script
    at_each_entrance do |browser, name|
      yield browser, "/compiled"
      yield browser, "/executed" if EXECUTING.include?(name)
    end
  end

  def test_the_script_gets_its_variables
    at_each_script do |browser, path|
      expected = { "GATEWAY_INTERFACE" => "CGI/1.1", "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => path,
                   "PATH_INFO" => "/env", "QUERY_STRING" => "a=1%202", "SERVER_PROTOCOL" => "HTTP/1.1",
                   "HTTP_X_OWN" => "yes" }
      response = browser.get("#{path}/env?a=1%202", "X-Own" => "yes")
      assert_equal expected.map { |name, value| "#{name}=#{value}\n" }.join, response.body
    end
  end

  # The larger upload is longer than a pipe.
  def test_an_upload_is_read
    [1024, 1024 * 1024].each do |size|
      bytes = Random.new(size).bytes(size)
      at_each_script do |browser, path|
        response = browser.upload("#{path}/upload", { "note" => "note" }, ["file", "a.bin", bytes])
        assert_equal "note a.bin #{size} #{Digest::SHA256.hexdigest(bytes)}", response.body
      end
    end
  end

  def test_bytes_are_not_changed
    at_each_script { |browser, path| assert_equal (0..255).to_a, browser.get("#{path}/bytes").body.bytes }
  end

  def test_each_cookie_is_sent_in_a_field_of_its_own
    at_each_script do |browser, path|
      responses = Array.new(2) { browser.get("#{path}/cookies") }
      assert_equal %w[1 2], responses.map(&:body)
      assert_equal(%w[count=2 copy=2], responses.last.all("Set-Cookie").map { |text| text[/\A[^;]*/] })
      browser.cookies.clear
    end
  end

  def test_the_status_of_the_script_is_sent
    at_each_script do |browser, path|
      away = browser.get("#{path}/away")
      assert_equal [302, "http://localhost/elsewhere"], [away.status, away["Location"]]
      assert_equal [404, "nothing at /x\n"], [browser.get("#{path}/x").status, browser.get("#{path}/x").body]
    end
  end

  def test_the_server_survives_a_script_that_dies
    at_each_script do |browser, path|
      assert_equal 500, browser.get("#{path}/die").status
      assert_equal 404, browser.get("#{path}/x").status
    end
    @servers.each_value { |server| server.wait_for_output(/on purpose/) }
  end
end
