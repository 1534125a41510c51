# frozen_string_literal: true

require "test_helper"
require_relative "support/psgi_case"

# Plack::App::Directory gives open files as bodies. The server sends them, and answers Range.
class DirectoryTest < Interop::PsgiCase
  BYTES = Random.new(3).bytes(300_000)

  def application = "directory"

  def prepare
    temp_file("files/data.bin", BYTES)
    temp_file("files/empty.txt")
    temp_file("files/Käthe & Co.txt", "found")
  end

  def test_lists_are_sent
    at_each_entrance do |browser|
      response = browser.get("/")
      assert_equal [200, "text/html"], [response.status, response["Content-Type"][/\A[^;]*/]]
      %w[/data.bin /empty.txt /K%C3%A4the%20%26%20Co.txt].each do |path|
        assert_includes response.body, "<a href='#{path}'>"
      end
    end
  end

  def test_files_are_sent
    at_each_entrance do |browser|
      { "/data.bin" => BYTES, "/empty.txt" => "", "/K%C3%A4the%20%26%20Co.txt" => "found" }.each do |path, bytes|
        response = browser.get(path)
        assert_equal [200, bytes.bytesize.to_s, bytes], [response.status, response["Content-Length"], response.body]
      end
      head = browser.head("/data.bin")
      assert_equal [200, "300000", ""], [head.status, head["Content-Length"], head.body]
      assert_equal [404, 403], [browser.get("/absent").status, browser.get("/x/%2e%2e/data.bin").status]
    end
  end

  def test_parts_of_a_file_are_sent
    at_each_entrance do |browser|
      { "bytes=0-0" => 0..0, "bytes=65530-65550" => 65_530..65_550, "bytes=-7" => 299_993..299_999,
        "bytes=299999-" => 299_999..299_999 }.each do |range, bytes|
        response = browser.get("/data.bin", "Range" => range)
        assert_equal [206, "bytes #{bytes.begin}-#{bytes.end}/300000", BYTES[bytes]],
                     [response.status, response["Content-Range"], response.body]
      end
      response = browser.get("/data.bin", "Range" => "bytes=300000-")
      assert_equal [416, "bytes */300000"], [response.status, response["Content-Range"]]
    end
  end

  def test_a_file_that_has_not_changed_is_not_sent
    at_each_entrance do |browser|
      date = browser.get("/data.bin")["Last-Modified"]
      unchanged = browser.get("/data.bin", "If-Modified-Since" => date)
      assert_equal [304, ""], [unchanged.status, unchanged.body]
      part = browser.get("/data.bin", "Range" => "bytes=1-2", "If-Range" => date)
      assert_equal [206, BYTES[1, 2]], [part.status, part.body]
      other = browser.get("/data.bin", "Range" => "bytes=1-2", "If-Range" => "Mon, 01 Jan 2024 00:00:00 GMT")
      assert_equal [200, 300_000], [other.status, other.body.bytesize]
    end
  end

  # curl asks for the rest of a file of which it has a part.
  def test_curl_continues_a_download
    path = temp_file("part.bin", BYTES[0, 100_000])
    url = "http://#{@entrances.fetch("nginx")}/data.bin"
    curl = Support::ChildProcess.run("curl", "-sS", "--fail", "-C", "-", "-o", path, url)
    assert_equal [0, ""], [curl.status.exitstatus, curl.output.text]
    assert_equal BYTES, File.binread(path)
  end
end
