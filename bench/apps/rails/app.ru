# frozen_string_literal: true

# The Rails application of bench/memory, bench/rails and bench/threads, in production: Active Record with SQLite, views,
# a cache. DATABASE_URL names the database, which this file makes. SQLite is in the process and answers at once, so each
# request waits as it would wait for a database on another machine: twice, together 5 to 20 ms, times BENCH_WAITS.

require "active_record/railtie"
require "action_controller/railtie"
require "action_mailer/railtie"
require "active_job/railtie"

class RailsBench < Rails::Application
  config.load_defaults 7.2
  config.root = __dir__
  config.eager_load = true
  config.secret_key_base = "0" * 64
  config.logger = ActiveSupport::Logger.new($stderr) # no file in the working directory
  config.log_level = :warn
  config.cache_store = :memory_store
  config.paths["app/views"] = "views"
  routes.append { resources :posts, only: %i[index show], controller: "rails_bench/posts" }

  class Post < ActiveRecord::Base
    self.table_name = "posts"
  end

  class PostsController < ActionController::Base
    WAITS = Float(ENV.fetch("BENCH_WAITS"))
    layout "bench"

    def index
      wait
      @posts = Post.order(:id).offset(rand(400)).limit(20)
      wait
      render("posts/index")
    end

    # The body is parsed and written again, as a page of an API.
    def show
      wait
      post = Post.find(params[:id].to_i + rand(400))
      wait
      render(json: JSON.parse(post.as_json.to_json).merge(related: Post.where(author: post.author).limit(5).as_json))
    end

    private

    def wait = sleep(WAITS * rand(0.0025..0.01))
  end
end

Rails.application.initialize!

unless RailsBench::Post.table_exists?
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:posts) do |table|
      table.string :title
      table.string :author, index: true
      table.text :body
      table.timestamps
    end
  end
  RailsBench::Post.insert_all(Array.new(500) do |number|
    { title: "Post #{number}", author: "author #{number % 50}", body: "Lorem ipsum dolor sit amet. " * 40,
      created_at: Time.now, updated_at: Time.now }
  end)
end
ActiveRecord::Base.connection_handler.clear_all_connections!
run Rails.application
