# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "rack"
require "bontebok/config/config"
require "bontebok/workers/rack_env"

# Tests the fixed part of env. It depends on the release of Rack.
class RackEnvTest < Minitest::Test
  KEYS = %w[SCRIPT_NAME SERVER_SOFTWARE rack.errors rack.url_scheme].freeze

  def test_rack_3_has_only_what_its_specification_names
    %w[3.1.0 3.2.8 3.10.0 4.0.0].each do |release|
      as_rack(release) { assert_equal [KEYS, true], [env.keys.sort, Bontebok::RackEnv.asterisk?] }
    end
    as_rack("3.0.18") { assert_equal [["HTTP_VERSION", *KEYS], false], [env.keys.sort, Bontebok::RackEnv.asterisk?] }
  end

  def test_rack_2_gets_the_version_threads_and_processes_too
    as_rack("2.2.9", [1, 3]) do
      assert_includes env, "HTTP_VERSION"
      assert_equal [[1, 3], false, true, false], rack2_values(env)
      assert_equal [[1, 3], true, false, false], rack2_values(env(threads: ["2"], max_workers: ["0"]))
    end
  end

  def test_fixed_values_are_right_and_strings_are_frozen
    assert_equal ["", "http", "Bontebok/#{Bontebok::VERSION}"],
                 env.values_at("SCRIPT_NAME", "rack.url_scheme", "SERVER_SOFTWARE")
    assert_same $stderr, env["rack.errors"]
    assert(env.values.grep(String).all?(&:frozen?))
  end

  private

  def env(written = { max_workers: ["2"] })
    Bontebok::RackEnv.fixed(Bontebok::Config.new(written, env: {}))
  end

  def rack2_values(env)
    env.values_at("rack.version", "rack.multithread", "rack.multiprocess", "rack.run_once")
  end

  def as_rack(release, version = nil, &)
    former = Rack.send(:remove_const, :VERSION) if (had_version = Rack.const_defined?(:VERSION))
    Rack.const_set(:VERSION, version) if version
    Rack.stub(:release, release, &)
  ensure
    Rack.send(:remove_const, :VERSION) if version
    Rack.const_set(:VERSION, former) if had_version
  end
end
