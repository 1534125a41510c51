# frozen_string_literal: true

require "socket"
require "test_helper"
require "bontebok/cli/server_search"
require "bontebok/config/config"

# Tests ServerSearch: which control socket a command uses.
class ServerSearchTest < Support::TestCase
  # The server was killed, and the next one has another environment, or there was no directory tmp.
  def test_a_socket_without_a_server_is_passed_over
    FileUtils.mkdir(%w[run tmp].map { |name| "#{temp_dir}/#{name}" })
    file = Dir.chdir(temp_dir) { config.control_places.own }
    stale = File.join(Dir.chdir(temp_dir) { Dir.pwd }, "tmp/bontebok.control")
    UNIXServer.new(stale).close
    assert_equal "no server takes commands at #{stale}", assert_raises(Bontebok::StartError) { search }.message
    UNIXServer.open(file) { assert_equal file, search }
    File.unlink(stale)
    UNIXServer.open(stale) { assert_equal stale, search }
  end

  def test_an_option_is_obeyed
    assert_equal "/proc/none/a", search({ control: ["/proc/none/a"] })
    assert_equal "none", search({ control: ["none"] })
  end

  def test_the_message_names_all_places
    message = assert_raises(Bontebok::StartError) { search }.message
    assert_match(%r{\Ano server takes commands at .*/bontebok-#{Process.euid}/bontebok-\h{16}\.control, \S*/run/},
                 message)
    refute_match(%r{tmp/bontebok\.control}, message)
    assert_match(/\n`--directory` names the server's directory, `--control` its socket\z/, message)
  end

  private

  def search(written = {})
    Dir.chdir(temp_dir) { Bontebok::ServerSearch.new(config(written)).path }
  end

  def config(written = {})
    Bontebok::Config.new(written, env: { "XDG_RUNTIME_DIR" => "#{temp_dir}/run" })
  end
end
