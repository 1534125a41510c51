# frozen_string_literal: true

require_relative "../system/file_name"
require_relative "option_types"
require_relative "start_advice/rails_advice"

module Bontebok
  # Hints for the log of a start, about files that are there or missing, and about Rails. Used by Config.
  class StartAdvice
    # The usual places of files of other servers. The directory config/puma has a file for each environment.
    UNREAD = %w[config/puma.rb config/puma/%s.rb config/unicorn.rb config/unicorn.conf.rb config/pitchfork.rb
                config/pitchfork.conf.rb].freeze

    # config: the Config. env: the environment variables.
    def initialize(config, env)
      @config = config
      @env = env
    end

    # The server starts without these directories, because they may be made later. So they are no faults.
    def texts
      unread_files + missing_directories + RailsAdvice.new(@config, @env).texts
    end

    private

    # A text for each file of another server that is in its usual place, and is not read.
    def unread_files
      return [] if @config[:config_file]

      paths = UNREAD.map { |path| path.sub("%s", @config[:environment]) }.select { |path| File.file?(path) }
      paths.map { |path| "#{path} is not read: `bontebok -c #{path}` reads it" }
    end

    def missing_directories
      [*sendfile_directories, *directory_of_restart_file].reject { |_, directory| File.directory?(directory) }
                                                         .map do |key, directory|
        "#{@config.source(key)}: #{OptionTable[key].name}: the directory #{directory} does not exist"
      end
    end

    def sendfile_directories
      directories = @config[:x_sendfile].map { |place| OptionTypes::SendfilePlaces::ENTRY.match(place.b)[2] }
      directories.map { |directory| [:x_sendfile, FileName.text(directory)] }
    end

    def directory_of_restart_file
      path = @config[:restart_file]
      path ? [[:restart_file, File.dirname(path)]] : []
    end
  end
end
