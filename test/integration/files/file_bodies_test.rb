# frozen_string_literal: true

require "test_helper"
require "open3"

# Files of the application, served by the real executable. Rack::Files answers Range itself; the other applications
# leave Range to the server.
class FileBodiesTest < Support::TestCase
  MIB = 1 << 20

  RACKUP = <<~RUBY
    require "rack"
    Body = Struct.new(:to_path) do
      def each
        yield "from each"
      end
    end
    use Rack::Lint
    run lambda { |env|
      path = File.join(%s, env["PATH_INFO"])
      next [200, { "content-type" => "text/plain" }, ["ok"]] if env["PATH_INFO"] == "/ok"
      next [304, { "etag" => '"1"' }, []] if env["HTTP_IF_NONE_MATCH"] == '"1"'
      [200, { "content-type" => "text/plain", "etag" => '"1"' }, Body.new(path)]
    }
  RUBY

  def setup
    super
    @bytes = Random.new(1).bytes(16 * MIB)
    @path = temp_file("files/large", @bytes)
    temp_file("files/small", "0123456789")
  end

  def test_a_slow_client_does_not_hold_the_only_thread
    server = start
    server.connect do |client|
      client.request("GET", "/large")
      3.times { assert_equal "ok", server.get("/ok").body }

      assert_equal @bytes, client.read_response.body
    end
  end

  def test_a_file_that_becomes_shorter_aborts_the_response
    server = start(listen: :tcp)
    server.connect do |client|
      client.request("GET", "/large")
      client.read(1)
      File.truncate(@path, MIB)

      assert_equal :reset, client.wait_for_end
    end
    server.wait_for_output(/a file became shorter while it was sent/)

    assert_equal "ok", server.get("/ok").body
  end

  def test_the_connection_is_kept
    server = start
    server.connect do |client|
      client.request("GET", "/small")
      client.request("HEAD", "/small")
      client.request("GET", "/small", { "If-None-Match" => '"1"' })
      client.request("GET", "/large")
      client.request("GET", "/ok")

      assert_equal "0123456789", client.read_response.body
      assert_equal "10", client.read_response(to: "HEAD")["Content-Length"]
      assert_equal 304, client.read_response.status
      assert_equal @bytes, client.read_response.body
      assert_equal "ok", client.read_response.body
    end
  end

  def test_sixteen_ranges_and_seventeen
    server = start
    [[16, 206], [17, 200]].each do |count, status|
      ranges = Array.new(count) { |i| "#{i * 10}-#{i * 10}" }

      assert_equal status, server.get("/large", { "Range" => "bytes=#{ranges.join(',')}" }).status
    end
  end

  def test_a_download_survives_a_graceful_stop
    server = start(listen: :tcp)
    server.connect do |client|
      client.request("GET", "/large")
      eventually { server.get("/ok").body == "ok" }
      server.signal("QUIT")

      assert_equal @bytes, client.read_response.body
    end
    assert_equal 0, server.wait.exitstatus
  end

  def test_a_client_that_goes_harms_nobody
    server = start(listen: :tcp)
    3.times do
      server.connect do |client|
        client.request("GET", "/large")
        client.read(1)
      end
    end

    assert_equal "ok", server.get("/ok").body
    eventually { files_open_in(server).zero? }
  end

  def test_an_interrupted_download_is_resumed
    server = start(listen: :tcp)
    part = temp_file("part", @bytes[0, 5 * MIB])
    _, error, status = Open3.capture3("curl", "-sS", "-C", "-", "-o", part, "http://#{server.address}/large")

    assert_predicate status, :success?, error
    assert_equal @bytes, File.binread(part)
  end

  def test_rack_files_and_rack_sendfile
    server = start_bontebok(args: ["-w", "1"], rackup: <<~RUBY)
      require "rack"
      use Rack::Lint
      use Rack::Sendfile
      use Rack::ConditionalGet
      run Rack::Files.new(#{"#{temp_dir}/files".inspect})
    RUBY

    assert_equal @bytes, server.get("/large").body
    assert_equal "234", server.get("/small", { "Range" => "bytes=2-4" }).body
    modified = server.get("/small")["Last-Modified"]
    assert_equal 304, server.get("/small", { "If-Modified-Since" => modified }).status
    assert_equal 404, server.get("/missing").status
  end

  def test_x_sendfile
    server = start_bontebok(args: ["-w", "1", "--x-sendfile", "#{temp_dir}/files"], rackup: <<~RUBY)
      run ->(env) { [200, { "x-sendfile" => "#{temp_dir}" + env["PATH_INFO"] }, []] }
    RUBY

    assert_equal "0123456789", server.get("/files/small").body
    assert_equal 404, server.get("/config.ru").status
    server.wait_for_output(/outside of the directories of x_sendfile/)
  end

  private

  def files_open_in(server)
    pids = server.group
    pids.sum { |pid| Dir["/proc/#{pid}/fd/*"].count { |link| File.symlink?(link) && target_of(link) == @path } }
  end

  def target_of(link)
    File.readlink(link)
  rescue Errno::ENOENT
    nil
  end

  def start(listen: :unix)
    start_bontebok(args: ["-w", "1", "-t", "1"], listen:, rackup: format(RACKUP, "#{temp_dir}/files".inspect))
  end
end
