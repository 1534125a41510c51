# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/server_search"
require "bontebok/config/config"
require "bontebok/config/supervisor_config"
require "bontebok/system/code_files"

# Tests that file names are texts in UTF-8 in the locale C, too, in which Ruby labels those of the system otherwise.
# Services and containers often have this locale.
class LocaleTest < Support::TestCase
  def setup
    @former = [Encoding.default_external, $VERBOSE]
    @directory = FileUtils.mkdir("#{temp_dir}/\u00e9").first
    $VERBOSE = nil
    Encoding.default_external = Encoding::US_ASCII
  end

  def teardown
    Encoding.default_external, $VERBOSE = @former
    super
  end

  # A master sends it to the supervisor as JSON.
  def test_the_default_of_the_control_socket
    FileUtils.mkdir("#{@directory}/tmp")
    values = Dir.chdir(@directory) { Bontebok::SupervisorConfig.dump(Bontebok::Config.new({}, env: {}))[:values] }
    assert_equal "#{@directory}/tmp/bontebok.control", values[:control]
  end

  def test_a_search_without_a_server
    FileUtils.mkdir("#{@directory}/tmp")
    env = { "XDG_RUNTIME_DIR" => @directory }
    error = Dir.chdir(@directory) do
      assert_raises(Bontebok::StartError) { Bontebok::ServerSearch.new(Bontebok::Config.new({}, env: env)).connection }
    end
    assert_match(%r{ at #{@directory}/tmp/bontebok\.control, #{@directory}/bontebok-}, error.message)
  end

  # Outside of the start, an exception of another class would end the server.
  def test_a_link_that_leads_nowhere
    File.symlink("/none/\u00fc", link = "#{@directory}/link")
    assert_equal "#{link} is a link to /none/\u00fc, which does not exist",
                 Bontebok::ErrorText.of(Errno::ENOENT.new, link)
  end

  def test_roots_files
    skip "only root can become another user" unless Process.euid.zero?

    File.chmod(0o755, temp_dir)
    File.symlink("\u00e9", link = "#{temp_dir}/\u00fc")
    assert Bontebok::CodeFiles.roots?(link)
    Bontebok::Account.new("65534", "65534").append("#{@directory}/log").close
    assert_equal 65_534, File.stat("#{@directory}/log").uid
  end
end
