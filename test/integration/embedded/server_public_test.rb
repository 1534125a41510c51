# frozen_string_literal: true

require_relative "../support/embedded_case"

# The options public and public_headers of a Server.
class ServerPublicTest < EmbeddedCase
  def setup
    @directory = File.dirname(temp_file("files/a.txt", "the file"))
  end

  def test_files_come_before_the_application
    server = serve(public: @directory, public_headers: ["/ X-From: file"])
    file = get(server, "/a.txt")
    assert_equal ["the file", "file", "ok"], [file.body, file["X-From"], get(server, "/b.txt").body]
    totals = Bontebok.stats[:totals]
    assert_equal [2, 1], [totals[:responses]["2xx"], totals[:files]]
    server.stop
    assert_equal 0, open_count
  end

  # The directory of each start.
  def test_each_start_opens_the_directory
    server = serve(public: @directory)
    File.rename(@directory, "#{@directory}.old")
    temp_file("files/a.txt", "another file")
    assert_equal "the file", get(server, "/a.txt").body
    server.stop
    assert_equal "another file", get(server.start, "/a.txt").body
  end

  def test_a_start_without_the_directory_fails
    server = server(public: [@directory, "/proc/none"], public_headers: "/ Date: now")
    error = assert_raises(Bontebok::StartError) { server.start }
    assert_equal ["Bontebok::Server: public: /proc/none: No such file or directory",
                  "Bontebok::Server: public_headers: / Date: now: the server sets this field itself"], error.messages
    refute_predicate server, :running?
    assert_equal 0, open_count
  end

  def test_a_value_that_is_no_directory_is_refused
    error = assert_raises(ArgumentError) { server(public: :assets) }
    assert_match(/\ABontebok::Server: public wants directories /, error.message)
  end

  private

  # The number of this process's descriptors of the directory.
  def open_count
    Support::ProcessTable.descriptors(Process.pid).values.count(File.realpath(@directory))
  end
end
