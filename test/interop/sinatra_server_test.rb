# frozen_string_literal: true

require "test_helper"

# Starts Sinatra applications with `ruby app.rb`. The Gemfile has no other server.
class SinatraServerTest < Support::TestCase
  def test_sinatra_finds_the_server_that_is_required_after_it
    assert_serves "require 'sinatra'\nrequire 'bontebok'\nget('/') { 'classic' }\n", "classic"
  end

  def test_a_modular_application_finds_the_server
    assert_serves <<~RUBY, "modular", args: false
      require "sinatra/base"
      require "bontebok"
      class App < Sinatra::Base
        set :port, Integer(ENV.fetch("PORT"))
        set :bind, "127.0.0.1"
        set :server_settings, { Silent: true, Threads: "1:4", workers: 0, queue_requests: false } # puma's
        get("/") { "modular" }
        run!
      end
    RUBY
  end

  def test_the_option_s_names_the_server
    assert_serves "require 'sinatra'\nget('/') { 'named' }\n", "named", args: %w[-s bontebok]
  end

  private

  def assert_serves(app, body, args: [])
    port = held_port.to_s
    temp_file("app.rb", app)
    options = ["-o", "127.0.0.1", "-p", port, *args] if args
    child = start_process("bundle", "exec", "ruby", "app.rb", *options, env: environment.merge("PORT" => port),
                                                                        chdir: temp_dir)
    child.wait_for_output(/has taken the stage on #{port} for development with backup from Bontebok$/)
    Support::Client.open(Support::Address.new("127.0.0.1:#{port}")) do |client|
      assert_equal body, client.get("/", "Connection" => "close").body
    end
    assert_equal 0, child.stop("INT").exitstatus
  end

  def environment
    { "BUNDLE_GEMFILE" => File.join(ROOT, "Gemfile"), "RUBYOPT" => nil, "RUBYLIB" => nil,
      "RACK_ENV" => nil, "APP_ENV" => nil }
  end
end
