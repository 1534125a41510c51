# frozen_string_literal: true

require_relative "../support/lane_case"
require "fileutils"
require "pathname"

# A body with to_path: the core sends the file itself.
class FileBodyTest < Support::LaneCase
  # A body that counts the calls of its methods.
  class Body
    attr_reader :to_path, :closed, :yielded

    def initialize(path, parts = ["from each"])
      @to_path = path
      @parts = parts
      @closed = @yielded = 0
    end

    def each(&)
      @yielded += 1
      @parts.each(&)
    end

    def close
      @closed += 1
    end
  end

  def setup
    super
    @path = temp_file("file", "0123456789")
  end

  def test_the_file_is_sent
    body = Body.new(@path)

    assert_sends "0123456789", body
    assert_equal [0, 1], [body.yielded, body.closed]
  end

  def test_a_path_may_be_a_pathname
    assert_sends "0123456789", Body.new(Pathname(@path))
  end

  def test_names_of_any_bytes_links_and_empty_files
    File.symlink(@path, "#{temp_dir}/link")
    assert_sends "0123456789", Body.new("#{temp_dir}/link")
    ["\xFFname".b, "\xFFname", "\u00e9", "a b%20"].each do |name|
      File.write(path = "#{temp_dir}/#{name}", "named")

      assert_sends "named", Body.new(path)
    end
    assert_sends "", Body.new(temp_file("empty", ""))
  end

  # The file of a Tempfile is often deleted in `close`.
  def test_a_file_that_is_deleted_while_it_is_sent
    large = temp_file("large", bytes = Random.new(1).bytes(16 << 20))
    body = Body.new(large)
    body.define_singleton_method(:close) { File.unlink(large) }
    server = serve { [200, {}, body] }

    assert_equal bytes, server.get("/").body
    refute_path_exists large
  end

  def test_the_fields
    response = respond(Body.new(@path), { "content-type" => "text/x", "etag" => '"a"' })

    assert_equal %w[text/x 10 bytes], [response["Content-Type"], response["Content-Length"], response["Accept-Ranges"]]
  end

  def test_a_body_without_a_file_is_sent_as_usual
    File.mkfifo(fifo = "#{temp_dir}/fifo")
    ["#{temp_dir}/missing", temp_dir, fifo, "/dev/null", nil].each do |path|
      body = Body.new(path)

      assert_sends "from each", body
      assert_equal [1, 1], [body.yielded, body.closed]
    end
  end

  def test_a_path_that_is_no_path_is_an_error
    [1, "a\0b"].each do |path|
      body = Body.new(path)
      server = serve { [200, {}, body] }

      assert_equal 500, server.get("/").status
      eventually { body.closed == 1 }
      assert_equal :error, server.reports.pop.first
    end
  end

  def test_a_response_that_is_already_a_part_is_sent_as_usual
    assert_sends "from each", Body.new(@path), { "content-range" => "bytes 0-8/10" }
    assert_sends "from each", Body.new(@path), {}, 206
  end

  # The application may know a length that differs from the file's. A longer one cannot be right for the file.
  def test_the_content_length_of_the_application
    assert_sends "01234", Body.new(@path), { "content-length" => "5" }
    assert_sends "a longer body", Body.new(@path, ["a longer body"]), { "content-length" => "13" }
  end

  def test_no_file_is_opened_if_there_is_no_body
    [204, 304].each do |status|
      body = Body.new(@path)
      server = serve { [status, {}, body] }
      response = server.get("/")

      assert_equal status, response.status
      eventually { body.closed == 1 }
      assert_equal 0, body.yielded
    end
  end

  def test_head_tells_the_length
    response = serve { [200, {}, Body.new(@path)] }.request("HEAD", "/")

    assert_equal ["10", ""], [response["Content-Length"], response.body]
  end

  def test_to_ary_comes_first
    body = Body.new(@path)
    body.singleton_class.undef_method(:close)
    body.define_singleton_method(:to_ary) { ["from to_ary"] }

    assert_sends "from to_ary", body
  end

  def test_a_plain_array_is_never_asked
    Array.define_method(:to_path) { raise "to_path was called" }

    assert_equal "plain", serve { [200, {}, ["plain"]] }.get("/").body
  ensure
    Array.remove_method(:to_path)
  end

  def test_a_range
    server = serve { [200, { "etag" => '"a"' }, Body.new(@path)] }

    assert_range server, [206, "bytes 2-4/10", "234"], "Range" => "bytes=2-4"
    assert_range server, [206, "bytes 8-9/10", "89"], "Range" => "bytes=-2", "If-Range" => '"a"'
    assert_range server, [200, nil, "0123456789"], "Range" => "bytes=-2", "If-Range" => '"b"'
    assert_range server, [416, "bytes */10", ""], "Range" => "bytes=10-"
  end

  def test_under_gc_stress
    server = serve { [200, { "a" => +"b" }, Body.new(@path.dup)] }
    under_gc_stress { assert_equal "0123456789", server.get("/").body }
  end

  private

  def respond(body, headers = {}, status = 200)
    response = serve { [status, headers, body] }.get("/")
    eventually { body.closed == 1 } if body.respond_to?(:closed) && body.respond_to?(:close)
    response
  end

  def assert_sends(text, body, headers = {}, status = 200)
    response = respond(body, headers, status)

    assert_equal [status, text], [response.status, response.body]
  end

  def assert_range(server, expected, fields)
    response = server.get("/", fields)

    assert_equal expected, [response.status, response["Content-Range"], response.body]
  end
end
