# frozen_string_literal: true

require "test_helper"
require_relative "../../../bench/support/files/slow_mount"

# Files of `public` in a directory in user space (FUSE), such as s3fs. While it answers no look-up, all other requests
# are served.
class FarFilesTest < Support::TestCase
  HERE = { "/here.txt" => "a local file\n", "/other" => "application", "/below/other" => "application" }.freeze
  APP = "run ->(_) { [200, {}, ['application']] }\n"
  # More than one read takes.
  LARGE = "large" * 100_000
  # A look-up that waits longer than the test may.
  FOREVER = 60_000

  def setup
    missing = Bench::Files::SlowMount.missing
    skip("#{missing} is missing") if missing
    @mount = Bench::Files::SlowMount.new(temp_dir, longest: FOREVER)
    { "known" => "known", "small" => "small", "large" => LARGE }.each do |name, text|
      File.write("#{@mount.source}/#{name}.txt", text)
    end
    temp_file("public/here.txt", HERE["/here.txt"])
  end

  def teardown
    @mount&.finish
    super
  end

  def test_a_link_leads_to_it
    File.symlink(@mount.path, "#{temp_dir}/public/uploads")
    start("public")
    assert_nobody_else_waits("/uploads")
  end

  def test_a_directory_of_its_own
    start("public", @mount.path)
    assert_nobody_else_waits("")
  end

  # Its file is larger than a file in memory, and the kernel cannot tell whether a read waits.
  def test_a_read_waits
    start("public", @mount.path)
    assert_equal LARGE.bytesize.to_s, @server.request("HEAD", "/large.txt")["Content-Length"]
    @mount.hold_reads
    client = ask("/large.txt")
    3.times { assert_others }
    @mount.let_go
    assert_equal LARGE, client.read_response.body
  ensure
    client&.close
  end

  def test_it_is_gone
    start("public", @mount.path)
    assert_equal "small", @server.get("/small.txt").body
    @mount.finish
    @mount = nil
    assert(eventually("the application") { @server.get("/small.txt").body == "application" })
    assert_others
  end

  private

  def start(*directories)
    public = directories.flat_map { |directory| ["--public", directory] }
    @server = start_bontebok(args: ["-w", "1", "-t", "1", *public], rackup: APP)
  end

  # The server has looked into the directory before.
  def assert_nobody_else_waits(directory)
    assert_equal "known", @server.get("#{directory}/known.txt").body
    assert_others
    @mount.hold
    clients = %w[small large].map { |name| ask("#{directory}/#{name}.txt") }
    3.times { assert_others }
    assert(clients.all? { |client| client.quiet?(0) })
    @mount.let_go
    assert_equal("small", clients.first.read_response.body)
    assert_equal(LARGE, clients.last.read_response.body)
  ensure
    @mount.let_go
    clients&.each(&:close)
  end

  def ask(target) = @server.connect.tap { |client| client.request("GET", target) }

  # On a new connection for each request.
  def assert_others
    HERE.each { |target, body| assert_equal body, @server.get(target, { "Connection" => "close" }).body }
  end
end
