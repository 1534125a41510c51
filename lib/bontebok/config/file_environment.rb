# frozen_string_literal: true

require_relative "../usage_error"

module Bontebok
  # The part of Config that sets RACK_ENV for the configuration file.
  module FileEnvironment
    private

    # RACK_ENV is set while the file is read, because the file may use it. A value that the file sets stays.
    def with_rack_env
      former = @env["RACK_ENV"]
      environment = environment_so_far
      @env["RACK_ENV"] = environment if environment
      yield
    ensure
      @env["RACK_ENV"] = former if environment && @env["RACK_ENV"] == environment
    end

    # nil also for a wrong value. It is a fault only if the file has no value (#setting).
    def environment_so_far
      option = OptionTable[:environment]
      (on_command_line(option) || in_environment(option))&.value
    rescue UsageError
      nil
    end
  end
end
