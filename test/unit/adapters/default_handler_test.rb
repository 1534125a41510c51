# frozen_string_literal: true

require "test_helper"
require "bontebok/adapters/default_handler"

# Tests when the server becomes the default of Rails and of Sinatra.
class DefaultHandlerTest < Support::TestCase
  # Has the settings of Sinatra::Base.
  class Settings
    attr_reader :server

    def initialize
      @server = %w[puma webrick]
    end

    def set(name, value)
      instance_variable_set(:"@#{name}", value)
    end
  end

  def test_rails_gets_the_name_until_the_server_is_chosen
    env = {}
    offer(env, rails: true)
    assert_equal({ "RACKUP_HANDLER" => "bontebok", "RACK_HANDLER" => "bontebok" }, env)
    Bontebok::DefaultHandler.withdraw(env: env)
    assert_empty env
  end

  def test_sinatra_tries_this_server_first
    settings = Settings.new
    offer({}, sinatra: settings)
    assert_equal %w[bontebok puma webrick], settings.server
  end

  def test_a_choice_of_the_user_stays
    %w[RACKUP_HANDLER RACK_HANDLER].each do |name|
      env = { name => "webrick" }
      offer(env, rails: true)
      Bontebok::DefaultHandler.withdraw(env: env)
      assert_equal({ name => "webrick" }, env)
    end
  end

  def test_another_server_of_the_bundle_stays_the_default
    env = {}
    settings = Settings.new
    %w[puma falcon thin].each { |name| offer(env, gems: [name], rails: true, sinatra: settings) }
    assert_equal [{}, %w[puma webrick]], [env, settings.server]
  end

  def test_a_program_without_rails_and_sinatra_is_not_changed
    env = {}
    offer(env)
    assert_empty env
  end

  private

  def offer(env, gems: ["bontebok"], **who)
    Bontebok::DefaultHandler.offer(env: env, gems: gems, **who)
  end
end
