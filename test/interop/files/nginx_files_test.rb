# frozen_string_literal: true

require "test_helper"
require "time"
require_relative "../support/test_case"
require_relative "conditions"
require_relative "nginx_files"

# nginx and the server serve the same file, and get the same requests. The responses are the same, except where
# Conditions::DIFFERENCES has a reason. The text of an error page is each server's own.
class NginxFilesTest < Interop::TestCase
  include Interop::Conditions

  SIZE = 100
  BYTES = Array.new(SIZE) { |number| (33 + (number % 90)).chr }.join.freeze
  MODIFIED = Time.at(1_700_000_000).utc
  APP = 'run ->(_env) { [404, {}, ["the application"]] }'

  def setup
    files = File.join(temp_dir, "public")
    Dir.mkdir(files)
    File.write("#{files}/file.txt", BYTES)
    File.utime(MODIFIED, MODIFIED, "#{files}/file.txt")
    @server = start_bontebok(args: ["-w", "1", "--public", files], rackup: APP)
    @entrances = { "server" => @server.address }
    start_proxy(Interop::NginxFiles.new(temp_dir, files))
    @etags = @entrances.keys.to_h { |name| [name, response(name, "HEAD", {})["ETag"]] }
  end

  def test_get
    CASES.each do |name, fields|
      status, like, reason = DIFFERENCES[name]
      theirs = outcome("nginx", "GET", fields)
      ours = outcome("server", "GET", fields)
      assert_equal outcome("nginx", "GET", like ? CASES.fetch(like) : fields), ours, "#{name}: #{reason}"
      next unless like

      assert_equal status, theirs.first, "nginx, #{name}"
      refute_equal theirs, ours, "#{name} is no difference"
    end
  end

  # RFC 9110 14.2: only GET has ranges. nginx gives a part also to HEAD.
  def test_head
    assert_equal [206, "bytes 0-9/#{SIZE}", "10", ""], outcome("nginx", "HEAD", RANGE => "bytes=0-9")
    CASES.each do |name, fields|
      like = DIFFERENCES.dig(name, 1)
      without_range = (like ? CASES.fetch(like) : fields).except(RANGE, IF_RANGE)
      assert_equal outcome("nginx", "HEAD", without_range), outcome("server", "HEAD", fields), name
    end
  end

  private

  # The facts that both servers must share: status, Content-Range, and the length and bytes of a part or a whole file.
  def outcome(server, method, fields)
    response = response(server, method, fields)
    return [response.status, response["Content-Range"]] if response.status >= 300
    return [response.status, *parts(response)] if response["Content-Type"].start_with?("multipart/")

    [response.status, response["Content-Range"], response["Content-Length"], response.body]
  end

  # The boundary is each server's own, and so is the length of the body (RFC 9110 14.6).
  def parts(response)
    boundary = response["Content-Type"][%r{\Amultipart/byteranges; boundary=(\S+)\z}, 1]
    assert_equal response.body.bytesize.to_s, response["Content-Length"]
    before, *parts, after = response.body.split("--#{boundary}")
    assert_equal ["", "--"], [before.strip, after.strip]
    parts.map do |part|
      head, bytes = part.split("\r\n\r\n", 2)
      [head[/^Content-Range: (.*)$/, 1].chomp, bytes.delete_suffix("\r\n")]
    end
  end

  def response(server, method, fields)
    Support::Client.open(@entrances.fetch(server)) do |client|
      client.request(method, "/file.txt", fields.transform_values { |value| filled(value, server) })
      client.read_response(to: method)
    end
  end

  # Replaces the words in a value of Conditions.
  def filled(value, server)
    words = { "OLDER" => (MODIFIED - 1).httpdate, "NEWER" => (MODIFIED + 1).httpdate, "MODIFIED" => MODIFIED.httpdate }
    words.update("ETAG" => @etags[server], "BARE" => @etags[server].delete('"')) if @etags
    value.gsub(/[A-Z]{4,}/) { |word| words.fetch(word, word) }
  end
end
