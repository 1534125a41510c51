# frozen_string_literal: true

require "bontebok/config/config"

# For tests of Config.
module ConfigCase
  private

  def config(written = {}, env: {}, **options)
    Bontebok::Config.new(written, env: env, **options)
  end

  def sources(config, *keys)
    keys.map { |key| config.source(key) }
  end

  def values(config, *keys)
    keys.map { |key| config[key] }
  end
end
