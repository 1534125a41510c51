# frozen_string_literal: true

require "test_helper"

# Tests how a Ruby process that a test starts finds its gems.
class GemDirectoriesTest < Support::TestCase
  COMPILED = Support::GemDirectories::COMPILED

  def test_a_started_ruby_process_has_the_same_rack_without_bundler_and_rubygems
    require "rack"
    script = "require %q(rack); print Rack.release, defined?(Bundler).inspect, defined?(Gem).inspect"
    assert_equal "#{Rack.release}nilnil", output_of(script)
  end

  # On a machine with two versions of a gem, Bundler's setup sets RUBYOPT to such a value.
  def test_the_setup_of_bundler_is_not_run
    with_environment("RUBYOPT" => "-W1 -rbundler/setup -r/usr/lib/ruby/bundler/setup") do
      assert_equal ["-W1", "--disable=gems", *COMPILED].join(" "), Support::GemDirectories.environment["RUBYOPT"]
    end
    with_environment("RUBYOPT" => "-rbundler/setup") do
      assert_equal ["--disable=gems", *COMPILED].join(" "), Support::GemDirectories.environment["RUBYOPT"]
    end
  end

  private

  def output_of(script)
    Support::ChildProcess.run(RbConfig.ruby, "-e", script).output.text
  end

  def with_environment(variables)
    former = variables.to_h { |name, _value| [name, ENV.fetch(name, nil)] }
    ENV.update(variables)
    yield
  ensure
    ENV.update(former)
  end
end
