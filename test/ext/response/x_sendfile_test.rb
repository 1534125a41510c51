# frozen_string_literal: true

require_relative "../support/lane_case"
require "fileutils"
require "rack/files"

# The server answers X-Sendfile and X-Accel-Redirect itself.
class XSendfileTest < Support::LaneCase
  def setup
    super
    FileUtils.mkdir_p(["#{temp_dir}/inside/deep", "#{temp_dir}/inside-not"])
    temp_file("inside/a file+1", "inside")
    temp_file("inside/deep/file", "deep")
    temp_file("inside-not/file", "not")
    temp_file("secret", "secret")
    File.symlink("../secret", "#{temp_dir}/inside/link")
    File.symlink("#{temp_dir}/inside/deep", "#{temp_dir}/inside/absolute")
    File.mkfifo("#{temp_dir}/inside/fifo")
  end

  def test_x_sendfile
    assert_file "inside", "X-Sendfile" => "#{temp_dir}/inside/a file+1"
    assert_file "deep", "x-sendfile" => "#{temp_dir}/inside/./deep/file"
    assert_file "deep", "x-sendfile" => "#{temp_dir}/inside/absolute/file"
  end

  def test_x_accel_redirect
    assert_file "inside", "x-accel-redirect" => "/files/a%20file+1"
    assert_file "deep", "X-Accel-Redirect" => "/files/deep/file?query"
    assert_file "deep", "X-Accel-Redirect" => "/files/deep/%66ile"
  end

  def test_the_longest_prefix_counts
    entries = "/files=#{temp_dir}/inside-not\n/files/deep/=#{temp_dir}/inside/deep/\n/=#{temp_dir}"

    assert_equal "deep", answer({ "X-Accel-Redirect" => "/files/deep/file" }, entries).body
    assert_equal "not", answer({ "X-Accel-Redirect" => "/files/file" }, entries).body
    assert_equal "secret", answer({ "X-Accel-Redirect" => "/secret" }, entries).body
  end

  # A client that influences the path cannot find out which files exist outside.
  def test_files_outside_are_answered_like_missing_files
    ["/etc/passwd", "#{temp_dir}/secret", "#{temp_dir}/inside/../secret", "#{temp_dir}/inside/link",
     "#{temp_dir}/inside/../secret/x", "#{temp_dir}/inside/../missing", "/missing",
     "#{temp_dir}/inside-not/file", "inside/deep/file", "", "/files/deep/file"].each do |path|
      assert_refused 404, "X-Sendfile" => path
    end
    ["/files/../secret", "/files/%2e%2e/secret", "/files/../missing", "/files/link",
     "/files//#{"../" * 20}etc/passwd"].each do |uri|
      assert_refused 404, "X-Accel-Redirect" => uri
    end
  end

  # root may read each file, so the test uses the other reason for 403. Without openat2(2), which valgrind lacks,
  # realpath(3) is called, and does not tell where it has failed.
  def test_a_file_inside_that_may_not_be_opened
    skip "no openat2(2)" if Bontebok::Core::PORTABLE || VALGRIND
    File.symlink("loop", "#{temp_dir}/inside/loop")
    File.symlink("loop", "#{temp_dir}/loop")

    assert_refused 403, "X-Sendfile" => "#{temp_dir}/inside/loop"
    assert_refused 404, "X-Sendfile" => "#{temp_dir}/inside/../loop"
  end

  def test_missing_files
    %w[missing deep fifo deep/file/x].each { |name| assert_refused 404, "X-Sendfile" => "#{temp_dir}/inside/#{name}" }
    ["/other/file", "/files", "/filesdeep/file", "/files/%zz", "/files/%0", "/files/a%00", "file", "",
     "#{temp_dir}/inside/deep/file", "/files/#{'x' * 5000}"].each do |uri|
      assert_refused 404, "X-Accel-Redirect" => uri
    end
  end

  def test_the_body_is_closed_and_not_sent
    closed = Queue.new
    body = Rack::BodyProxy.new(["unsent"]) { closed << true }
    server = serve(settings:) { [200, { "X-Sendfile" => "#{temp_dir}/inside/deep/file" }, body] }

    assert_equal "deep", server.get("/").body
    assert Timeout.timeout(60) { closed.pop }
  end

  def test_a_response_without_a_body_is_sent_as_it_is
    response = answer({ "X-Sendfile" => "#{temp_dir}/inside/deep/file", "etag" => '"a"' }, status: 304)

    assert_equal [304, '"a"', nil], [response.status, response["ETag"], response["X-Sendfile"]]
  end

  def test_ranges_and_head
    server = serve(settings:) { [200, { "X-Sendfile" => "#{temp_dir}/inside/deep/file", "content-length" => "0" }, []] }
    response = server.get("/", "Range" => "bytes=1-2")

    assert_equal [206, "ee"], [response.status, response.body]
    assert_equal "4", server.request("HEAD", "/")["Content-Length"]
  end

  def test_without_the_option_the_fields_are_sent
    path = "#{temp_dir}/inside/deep/file"
    response = answer({ "X-Sendfile" => path, "X-Accel-Redirect" => "/files/deep/file" }, "")

    assert_equal ["body", path, "/files/deep/file"],
                 [response.body, response["X-Sendfile"], response["X-Accel-Redirect"]]
  end

  # Rack::Sendfile names the file of each body that has to_path.
  def test_rack_sendfile
    app = Rack::Sendfile.new(Rack::Files.new("#{temp_dir}/inside"), "X-Sendfile")
    server = serve(app, settings:)

    assert_equal "deep", server.get("/deep/file").body
    assert_equal "ee", server.get("/deep/file", "Range" => "bytes=1-2").body
    assert_equal 404, server.get("/missing").status
  end

  private

  def settings
    { x_sendfile: "#{temp_dir}/inside\n/files=#{temp_dir}/inside" }
  end

  def answer(fields, entries = settings[:x_sendfile], status: 200)
    serve(settings: { x_sendfile: entries }) { [status, fields, ["body"]] }.tap { |server| @server = server }.get("/")
  end

  def assert_file(text, fields)
    response = answer(fields.merge("content-length" => "0", "x-kept" => "1"))

    assert_equal [200, text, "1", text.bytesize.to_s],
                 [response.status, response.body, response["X-Kept"], response["Content-Length"]]
    assert_nil response[fields.keys.first]
  end

  def assert_refused(status, fields)
    response = answer(fields)

    assert_equal [status, "The file cannot be sent.\n"], [response.status, response.body], fields
    assert_nil response[fields.keys.first]
    assert_match(/X-Sendfile: the file/, @server.next_report.message)
  end
end
