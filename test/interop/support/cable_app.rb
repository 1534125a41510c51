# frozen_string_literal: true

require_relative "generated_app"

module Interop
  # The application of test/interop/cable: Action Cable, Turbo Streams, server-sent events, downloads. The workers share
  # broadcasts through solid_cable and a database file, so they need no other server.
  class CableApp < GeneratedApp
    NAME = "cable"
    TEMPLATE = File.join(ROOT, "test/interop/cable")
    OPTIONS = %w[--skip-action-mailer --skip-action-mailbox --skip-action-text --skip-active-storage --skip-jbuilder
                 --skip-bootsnap].freeze
    DATABASE = "storage/empty.sqlite3"
    # The size of the file /large.bin.
    LARGE = 8 * 1024 * 1024

    class << self
      # database: the path of a new file, which the workers of one server share.
      def environment(database)
        # SQLite can keep the tables in the write-ahead log beside the file.
        ["", "-wal"].each { |suffix| FileUtils.cp(File.join(directory, DATABASE) + suffix, database + suffix) }
        super().merge("CABLE_DATABASE" => database, "SECRET_KEY_BASE" => "antelope")
      end

      private

      # The installers are the steps that `rails new` runs unless gems are skipped.
      def finish
        run("bundle", "exec", "rails", "importmap:install", "turbo:install")
        super
        run("bundle", "exec", "rails", "db:schema:load", "RAILS_ENV" => "production", "CABLE_DATABASE" => DATABASE,
                                                         "DISABLE_DATABASE_ENVIRONMENT_CHECK" => "1")
        File.binwrite(File.join(directory, "public/large.bin"), Random.new(1).bytes(LARGE))
      end
    end
  end
end
