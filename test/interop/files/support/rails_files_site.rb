# frozen_string_literal: true

require "fileutils"
require_relative "../../support/chromium/chromium"
require_relative "../../support/site_keeper"
require_relative "../../support/test_case"
require_relative "nginx_in_front"

module Interop
  # A copy of a generated Rails application that leaves the files of `public` to the server, nginx that sends the same
  # files itself, and Chromium. A test case that includes this module defines `application`, a GeneratedApp.
  module RailsFilesSite
    IMMUTABLE = "public, max-age=31536000, immutable"
    CACHED = { "/assets/" => IMMUTABLE, "/pictures/asked" => "no-cache" }.freeze
    # Files without a digest in their names. They are old, so that a browser may keep those without Cache-Control
    # (RFC 9111 4.2.2).
    PICTURES = %w[/pictures/old.svg /pictures/asked.svg].freeze
    OLD = Time.utc(2020)
    FILES = {
      # Each request that comes to the application's middleware is noted.
      "config/initializers/files.rb" => <<~'RUBY',
        Asked = Struct.new(:app) do
          def call(env)
            File.write("asked", "#{env["PATH_INFO"]}\n", mode: "a")
            app.call(env)
          end
        end
        Rails.application.configure do
          config.force_ssl = false
          config.public_file_server.enabled = false
          config.middleware.insert_before 0, Asked
        end
      RUBY
      "config/routes.rb" => "Rails.application.routes.draw { resource :gallery, only: :show }\n",
      "app/controllers/galleries_controller.rb" => "class GalleriesController < ApplicationController\nend\n",
      "app/views/galleries/show.html.erb" => <<~ERB
        <p class="antelope" style="font-family: Antelope">A gallery</p>
        <%= image_tag "antelope.png", id: "png" %> <%= image_tag "antelope.svg" %>
        <% #{PICTURES.inspect}.each do |path| %> <img src="<%= path %>"> <% end %>
        <%= javascript_include_tag "gallery" %>
      ERB
    }.freeze

    def self.included(test_class)
      test_class.extend(SiteKeeper)
    end

    def setup
      super
      @keeper = self.class.site_keeper
      @server, @entrances, @browser = @keeper.site
    end

    # Returns the server, { name => address } of the server and of nginx, and the browser.
    def site
      @site ||= begin
        copy_application
        start_server
        start_proxy(NginxInFront.new(temp_dir, "#{temp_dir}/application.sock", root: "#{temp_dir}/public",
                                                                               port: held_port, fields: CACHED))
        @browser = Chromium.new(temp_dir) { |command, options| start_process(*command, **options) }
        [@server, @entrances.slice("TCP", "nginx"), @browser]
      end
    end

    def close_site
      @browser&.close
      before_teardown
    ensure
      after_teardown
    end

    def public_directory = "#{@keeper.temp_dir}/public"

    # The paths of the requests that the application has got since the last call. A browser may ask for the manifest,
    # which the layout names, at any time.
    def take_asked
      path = "#{@keeper.temp_dir}/asked"
      asked = File.exist?(path) ? File.readlines(path, chomp: true).tap { File.unlink(path) } : []
      asked - ["/manifest.json"]
    end

    private

    def copy_application
      FileUtils.cp_r(File.join(application.prepare, "."), temp_dir)
      FILES.each { |name, text| temp_file(name, text) }
      svg = File.binread("#{temp_dir}/app/assets/images/antelope.svg")
      ["/favicon.ico", *PICTURES].each { |name| File.utime(OLD, OLD, temp_file("public#{name}", svg)) }
    end

    def start_server
      headers = CACHED.flat_map { |prefix, value| ["--public-headers", "#{prefix} Cache-Control: #{value}"] }
      socket = "#{temp_dir}/application.sock"
      @server = start_bontebok(listen: nil, env: application.environment,
                               args: ["-l", "127.0.0.1:0", "-l", "unix:#{socket}", "-w", "1", "-E", "production",
                                      "--public", "public", *headers])
      @entrances = { "TCP" => @server.address.to_s }
    end
  end
end
