# frozen_string_literal: true

require "socket"
require "test_helper"
require "bontebok/cli/server_search"
require "bontebok/config/config"

# Tests ServerSearch: which control socket a command uses.
class ServerSearchTest < Support::TestCase
  # The server was killed, and the next one has another environment, or there was no directory tmp.
  def test_a_socket_without_a_server_is_passed_over
    Dir.mkdir("#{temp_dir}/tmp")
    file = own_file
    stale = File.join(Dir.chdir(temp_dir) { Dir.pwd }, "tmp/bontebok.control")
    UNIXServer.new(stale).close
    assert_equal "no server takes commands at #{stale}", assert_raises(Bontebok::StartError) { search }.message
    UNIXServer.open(file) { assert_equal file, search }
    File.unlink(stale)
    UNIXServer.open(stale) { assert_equal stale, search }
  end

  # Any user can put a link into /tmp/bontebok-N. The link could lead root's command to another server.
  def test_a_link_to_the_socket_of_another_server_is_passed_over
    file = own_file
    File.symlink("#{temp_dir}/other", file)
    UNIXServer.open("#{temp_dir}/other") { assert_raises(Bontebok::StartError) { search } }
  end

  # SharedUnixListener renames the file.
  def test_the_socket_of_a_server_with_reuse_port_is_found
    file = own_file
    UNIXServer.open("#{file}.next") do
      File.rename("#{file}.next", file)
      assert_equal file, search
    end
  end

  # Between the search and the command, another process could replace the file.
  def test_a_command_goes_to_the_server_that_was_found
    UNIXServer.open(file = own_file) do |server|
      connection = connect
      File.unlink(file)
      UNIXServer.open(file) do
        server.accept.tap { |client| client.puts(%({"version":1,"status":0,"text":"found"})) }.close
        connection.ask({}) { |message| assert_equal "found", message["text"] }
      end
    end
  end

  def test_an_option_is_obeyed
    { "/proc/none/a" => "no server takes commands at /proc/none/a",
      "none" => "the server has no control socket: `control` is none" }.each do |control, message|
      assert_equal message, assert_raises(Bontebok::StartError) { search({ control: [control] }) }.message
    end
  end

  def test_the_message_names_all_places
    message = assert_raises(Bontebok::StartError) { search }.message
    assert_match(%r{\Ano server takes commands at .*/bontebok-#{Process.euid}/bontebok-\h{16}\.control, \S*/run/},
                 message)
    refute_match(%r{tmp/bontebok\.control}, message)
    assert_match(/\n`--directory` names the server's directory, `--control` its socket\z/, message)
  end

  private

  # The place of the environment.
  def own_file
    FileUtils.mkdir_p("#{temp_dir}/run")
    Dir.chdir(temp_dir) { config.control_places.own }
  end

  def search(written = {})
    connect(written).tap(&:close).path
  end

  def connect(written = {})
    Dir.chdir(temp_dir) { Bontebok::ServerSearch.new(config(written)).connection }
  end

  def config(written = {})
    Bontebok::Config.new(written, env: { "XDG_RUNTIME_DIR" => "#{temp_dir}/run" })
  end
end
