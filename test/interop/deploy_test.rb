# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/releases"

# Releases with Bundler, as Capistrano deploys them: each release has its own Gemfile, and the oldest directory is
# removed.
class DeployInteropTest < Support::TestCase
  include Releases

  APP = <<~'RUBY'
    text = "rack #{Rack.release[0]} in #{Dir.pwd}"
    run ->(_) { [200, { "content-type" => "text/plain" }, [text]] }
  RUBY
  # A developer's shell, or Bundler, may have set these variables.
  CLEAN = ENV.keys.grep(/\A(BUNDLE|RUBYOPT|RUBYLIB|GEM_)/).to_h { |name| [name, nil] }
             .merge("RUBYOPT" => nil, "RUBYLIB" => nil).freeze

  # Bundler loads the program into its own process, or executes it.
  { "bundle exec bontebok" => %w[bundle exec bontebok], "bundle exec ruby" => %w[bundle exec ruby -S bontebok] }
    .each do |name, command|
      define_method("test_#{name.tr(' ', '_')}_finds_the_gems_of_each_release") do
        release(1, files("~> 2.2.0"))
        server = start_current("-w", "1", "--keep-former", "10m", "--control", "#{temp_dir}/control",
                               command: command, env: CLEAN)
        assert_serves_rack 2, server, 1
        release(2, files("~> 3.0"))
        remove_release(1)
        assert_command "generation 2 serves\n", "deploy", "--wait"
        assert_serves_rack 3, server, 2
        assert_command "generation 1 serves again\n", "rollback", "--wait"
        assert_serves_rack 2, server, 1
      end
    end

  private

  def files(rack)
    { "config.ru" => APP, "Gemfile" => <<~RUBY }
      source Gem.sources.first.uri.to_s
      gem "bontebok", path: #{File.expand_path("../..", __dir__).inspect}
      gem "rack", #{rack.inspect}
    RUBY
  end

  def assert_serves_rack(version, server, number)
    expected = "rack #{version} in #{File.realpath(temp_dir)}/releases/#{number}" # the directory may be gone
    assert(eventually(expected, seen: -> { server.output.text }) { server.get.body == expected })
  end

  def assert_command(output, *args)
    command = Support::ChildProcess.run(RbConfig.ruby, Support::BontebokProcess::EXECUTABLE, *args,
                                        "--control", "#{temp_dir}/control", chdir: temp_dir)
    assert_equal output, command.output.text
  end
end
