# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/config/config"

# Tests the defaults that depend on the environment.
class DefaultsTest < Support::TestCase
  # One process: the debugger has the terminal. Three threads: a page may request another page from the server.
  def test_development_has_one_process_with_three_threads
    assert_equal [0, 3, 0], [*values(config, :max_workers, :threads), config.workers]
    assert_equal [0, 3], values(config({ max_workers: ["0"] }), :max_workers, :threads)
    assert_equal [2, 1], values(config({ max_workers: ["2"] }), :max_workers, :threads)
    assert_equal [2, 1], values(config(env: { "WEB_CONCURRENCY" => "2" }), :max_workers, :threads)
    assert_equal [0, 7], values(config(env: { "RAILS_MAX_THREADS" => "7" }), :max_workers, :threads)
    production = config({ environment: ["production"] })
    assert_equal [:auto, 1, Bontebok::Cpus.new.count], [*values(production, :max_workers, :threads), production.workers]
    assert_equal [0, 1], values(config({ environment: ["production"], max_workers: ["0"] }), :max_workers, :threads)
  end

  # A style of another server has its own default.
  def test_rails_has_three_threads
    Dir.chdir(temp_dir) do
      temp_file("config/application.rb", "module App; class API < Grape::API; end; end")
      assert_equal [1, "default"], threads({ environment: ["production"] })
      temp_file("config/application.rb", "module App\n  class Application < Rails::Application\n  end\nend\n")
      assert_equal [3, "default for Rails"], threads({ environment: ["production"] })
      assert_equal [3, "default for Rails"], threads({ max_workers: ["2"] })
      assert_equal [3, "default"], threads
      assert_equal [1, "command line"], threads({ threads: ["1"] })
      assert_equal [7, "environment RAILS_MAX_THREADS"], threads(env: { "RAILS_MAX_THREADS" => "7" })
      { "unicorn" => 1, "pitchfork" => 1, "rhebok" => 1, "puma" => 5 }.each do |style, count|
        assert_equal [count, "#{style}'s default"], threads({ config_file: [temp_file("#{style}.rb")] }), style
      end
    end
  end

  def test_the_default_address_depends_on_the_environment
    assert_equal localhost(9292), config[:listen].map(&:to_s)
    assert_equal localhost(3000), config(env: { "PORT" => "3000" })[:listen].map(&:to_s)
    assert_equal "0.0.0.0:9292", config({ environment: ["production"] })[:listen].join
    assert_equal "0.0.0.0:9292", config(env: { "RACK_ENV" => "test" })[:listen].join
    assert_equal "0.0.0.0:1", config({ listen: ["1"] })[:listen].join
  end

  def test_without_ipv6_the_default_address_is_one_of_ipv4
    absent = ->(*) { raise Errno::EADDRNOTAVAIL }
    config = Addrinfo.stub(:tcp, absent) { config(env: { "PORT" => "3000" }) }
    assert_equal ["127.0.0.1:3000"], config[:listen].map(&:to_s)
  end

  # The supervisor is root, a master is not. With another default for each, the socket would move at a deploy.
  def test_the_control_socket_is_in_a_directory_tmp_that_the_user_can_write_to
    Dir.mkdir(tmp = "#{File.realpath(temp_dir)}/tmp")
    assert_equal "#{tmp}/bontebok.control", control_in(temp_dir)
    skip "only root can become another user" unless Process.euid.zero?

    File.chmod(0o755, temp_dir)
    assert_match(%r{\A/tmp/bontebok-65534/bontebok-\h{16}\.control\z}, control_in(temp_dir, { user: ["65534:65534"] }))
    File.chown(65_534, nil, tmp)
    assert_equal "#{tmp}/bontebok.control", control_in(temp_dir, { user: ["65534:65534"] })
  end

  def test_the_control_socket_is_elsewhere_if_the_path_of_tmp_is_too_long
    long = FileUtils.mkdir_p("#{temp_dir}/#{'a' * 90}/tmp").first
    assert_match(%r{\A/tmp/bontebok-#{Process.euid}/bontebok-\h{16}\.control\z}, control_in(File.dirname(long)))
  end

  def test_a_fault_of_the_user_leaves_a_default
    faults = Bontebok::Faults.new
    Bontebok::Config.new({ user: ["nobody-here"], control: ["~nobody-here/a"] }, env: {}, faults: faults)
    assert_equal 2, faults.messages.size, faults.inspect
  end

  private

  def control_in(directory, written = {})
    Dir.chdir(directory) { config(written)[:control] }
  end

  def config(written = {}, env: {})
    Bontebok::Config.new(written, env: env)
  end

  def values(config, *keys)
    keys.map { |key| config[key] }
  end

  def threads(written = {}, **options)
    config = config(written, **options)
    [config[:threads], config.source(:threads)]
  end

  def localhost(port)
    Bontebok::Loopback.addresses.map { |host| Bontebok::Address.text(host, port) }
  end
end
